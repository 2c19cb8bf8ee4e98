"""A reader's risk head as a layer of the screen: `CrisisScreen(ReaderHead(OnnxReader.from_bundle("default")))`.

Each call is one pass of that reader's encoder. Where the bundle has no screen of its own (`bundled_screen.py`), the
listener has encoded the message anyway and hands what the head read in it to `CrisisScreen.check`; only a message that
is too long for one pass is read here, in parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allears.conversation import Role, Turn
from allears.safety.dangers import NO_DANGER
from allears.text.layout import Limits

if TYPE_CHECKING:
    from allears.runtime.answering import AnsweringReader

RISK = "risk"
LONGEST, STEP = 60, 40  # words: the parts of a message that is too long to be read at once, which overlap


class ReaderHead:
    """A message in, the probability of each label out; of a long message, those of its gravest part."""

    def __init__(self, reader: AnsweringReader):
        reader.needs(RISK)
        self.reader, self.labels = reader, tuple(reader.card.heads[RISK])

    def __call__(self, message: str) -> dict[str, float]:
        from allears.text.reading import Reading

        readings = [Reading((Turn(Role.SEEKER, part),)) for part in self._parts(message)]
        rows = self.reader.answers(readings)[RISK]
        harmless = self.labels.index(NO_DANGER)
        gravest = min(rows, key=lambda row: float(row[harmless]))
        return {label: float(share) for label, share in zip(self.labels, gravest, strict=True)}

    def _parts(self, message: str) -> list[str]:
        (pieces,) = self.reader.tokenizer.encode_many([message])
        if len(pieces) < most_pieces(self.reader.card.limits):
            return [message]
        words = message.split()
        starts = range(0, max(1, len(words) - (LONGEST - STEP)), STEP)
        return [" ".join(words[start : start + LONGEST]) for start in starts]


def most_pieces(limits: Limits) -> int:
    """How many word pieces of a message are read when it stands alone."""
    return min(limits.first_turn_tokens, limits.context_tokens - 2)  # but its first and last sign
