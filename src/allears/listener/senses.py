"""How the listener reads a turn: what the person feels, and what a supporter would do next. One encoder call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from allears.conversation import Role, Turn
from allears.listener.contract import Likely
from allears.understanding.heads import HEADS, STRATEGY_TURNS
from allears.understanding.reading import Reading
from allears.understanding.runtime import OnnxReader

EMOTION, STRATEGY = "ed-emotion-turns", "strategy"
FEELING_TURNS = 6  # of the person's: enough to know the story, short enough to follow a change

NOW = 0.4  # of a mood is what was read in this turn


class Senses:
    """The reader's answers, as the listener wants them."""

    def __init__(self, reader: OnnxReader):
        self.reader = reader
        for name in (EMOTION, STRATEGY):
            reader.needs(name)

    def read(self, conversations: Sequence[Sequence[Turn]]) -> list[tuple[Likely, Likely]]:
        """For each: the 32 emotions and the 8 strategies with their probabilities, likeliest first."""
        feelings = [Reading(_spoken(turns)) for turns in conversations]
        talks = [Reading(tuple(turns[-STRATEGY_TURNS:])) for turns in conversations]
        found = self.reader.answers([*feelings, *talks])
        count = len(conversations)
        emotions, strategies = found[EMOTION][:count], found[STRATEGY][count:]
        return [(likely(EMOTION, emotions[row]), likely(STRATEGY, strategies[row])) for row in range(count)]


def mood(read: Likely, before: Mapping[str, float]) -> Likely:
    """What was read now, together with the mood so far: tears at the finish line are no grief.

    What was read now counts `NOW`. What the mood before did not keep counts as nothing.
    """
    if not before:
        return read
    joined = {name: NOW * chance + (1 - NOW) * before.get(name, 0.0) for name, chance in read}
    total = sum(joined.values())
    return tuple(sorted(((name, value / total) for name, value in joined.items()), key=lambda item: -item[1]))


def _spoken(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    return tuple(Turn(turn.speaker, turn.text) for turn in turns if turn.speaker is Role.SEEKER)[
        -FEELING_TURNS:
    ]


def likely(head: str, chances: np.ndarray) -> Likely:
    order = np.argsort(-chances, kind="stable")
    return tuple((HEADS[head].labels[column], float(chances[column])) for column in order)
