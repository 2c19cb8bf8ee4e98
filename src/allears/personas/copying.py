"""The extractor to beat: whatever somebody says with "I" or "my" in it is taken as it stands. Nothing to train."""

from __future__ import annotations

from collections.abc import Sequence

from allears.personas.plain import plain_words
from allears.personas.support import content_words
from allears.personas.wording import sentences

SINGULAR = frozenset({"i", "my", "me", "mine", "myself"})


class CopyingExtractor:
    """Sentences in the first person that are no questions and say something."""

    def extract(self, utterances: Sequence[str]) -> list[tuple[str, ...]]:
        return [tuple(filter(tells, sentences(utterance))) for utterance in utterances]


def tells(sentence: str) -> bool:
    """Whether it is no question, in the first person, and has something in it."""
    return (
        not sentence.endswith("?")
        and not SINGULAR.isdisjoint(plain_words(sentence))
        and bool(content_words(sentence))
    )
