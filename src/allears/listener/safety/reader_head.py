"""The reader's risk head as a layer of the screen, alone or together with the small head that ships.

    head = reader_and_ngrams(OnnxReader.from_bundle("default"))
    screen = CrisisScreen(head)

Each call is one pass of the encoder. What has encoded the message already can hand over probabilities instead:
`TwoHeads(lambda text: probabilities, shipped_head())`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import TYPE_CHECKING

from allears.conversation import Role, Turn
from allears.listener.safety.cases_file import shipped_cases
from allears.listener.safety.dangers import NO_DANGER
from allears.listener.safety.ngram_head import shipped_head
from allears.listener.safety.screen import Head, danger_threshold

if TYPE_CHECKING:
    from allears.understanding.runtime import OnnxReader

RISK = "risk"
_LEAST = 1e-6  # no head is ever surer than this


class ReaderHead:
    """A reader's `risk` head: a message in, the probability of each label out."""

    def __init__(self, reader: OnnxReader):
        reader.needs(RISK)
        self.reader, self.labels = reader, tuple(reader.card.heads[RISK])

    def __call__(self, message: str) -> dict[str, float]:
        from allears.understanding.reading import Reading

        shares = self.reader.answers([Reading((Turn(Role.SEEKER, message),))])[RISK][0]
        return {label: float(share) for label, share in zip(self.labels, shares, strict=True)}


class TwoHeads:
    """Two opinions as one: the mean of their log-odds of danger; the kind of danger as both together see it."""

    def __init__(self, first: Head, second: Head, threshold: float = 0.5):
        self.first, self.second, self.threshold = first, second, threshold

    def __call__(self, message: str) -> dict[str, float]:
        one, other = self.first(message), self.second(message)
        danger = 1 / (1 + exp(-(_log_odds(one) + _log_odds(other)) / 2))
        kinds = {label: one.get(label, 0.0) + other.get(label, 0.0) for label in one if label != NO_DANGER}
        total = sum(kinds.values()) or 1.0
        return {NO_DANGER: 1 - danger} | {label: danger * share / total for label, share in kinds.items()}


def reader_and_ngrams(reader: OnnxReader) -> TwoHeads:
    """The reader's risk head and the small head, with the threshold that the validation cases ask for."""
    both = TwoHeads(ReaderHead(reader), shipped_head())
    harmless = [case.text for case in shipped_cases("valid") if not case.is_danger]
    both.threshold = danger_threshold(both, harmless)
    return both


def _log_odds(shares: Mapping[str, float]) -> float:
    danger = min(max(1 - shares.get(NO_DANGER, 0.0), _LEAST), 1 - _LEAST)
    return log(danger / (1 - danger))
