"""How the listener reads a turn: what the person feels, and what a supporter would do next.

The ranker has encoded the conversation and the last message already, with the same encoder. The heads answer from
those states, so reading costs no encoder pass of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from allears.listener.contract import Likely
from allears.selection.runtime import Text
from allears.understanding.heads import HEADS
from allears.understanding.runtime import OnnxReader

EMOTION, STRATEGY = "ed-emotion-turns", "strategy"
NOW = 0.4  # of a mood is what was read in this turn, if it was a turn of some length
LENGTH = 10  # words; shorter messages ("yes, he did") say less about a mood


class Senses:
    """The reader's answers, as the listener wants them."""

    def __init__(self, reader: OnnxReader):
        self.reader = reader
        for name in (EMOTION, STRATEGY):
            reader.needs(name)

    def read(self, conversations: Sequence[Text], messages: Sequence[Text]) -> list[tuple[Likely, Likely]]:
        """For each: the 32 emotions of the message, and the 8 strategies by the conversation, likeliest first."""
        texts = [*conversations, *messages]
        width = max(len(text.ids) for text in texts)
        states = np.zeros((len(texts), width, texts[0].states.shape[-1]), np.float32)
        mask = np.zeros((len(texts), width), np.int64)
        for row, text in enumerate(texts):
            states[row, : len(text.ids)], mask[row, : len(text.ids)] = text.states, 1
        found = self.reader.from_states(states, mask)
        count = len(conversations)
        strategies, emotions = found[STRATEGY][:count], found[EMOTION][count:]
        return [(likely(EMOTION, emotions[row]), likely(STRATEGY, strategies[row])) for row in range(count)]


def mood(read: Likely, before: Mapping[str, float], message: str) -> Likely:
    """What was read now, together with the mood so far: tears at the finish line are no grief.

    What the mood before did not keep counts as nothing.
    """
    if not before:
        return read
    now = NOW * min(1.0, (1 + len(message.split())) / LENGTH)
    joined = {name: now * chance + (1 - now) * before.get(name, 0.0) for name, chance in read}
    total = sum(joined.values())
    return tuple(sorted(((name, value / total) for name, value in joined.items()), key=lambda item: -item[1]))


def likely(head: str, chances: np.ndarray) -> Likely:
    order = np.argsort(-chances, kind="stable")
    return tuple((HEADS[head].labels[column], float(chances[column])) for column in order)
