"""How the listener reads a turn: what the person feels, and what a supporter would do next. One encoder call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from allears.conversation import Role, Turn
from allears.listener.contract import Likely
from allears.understanding.heads import HEADS, STRATEGY_TURNS
from allears.understanding.reading import Reading
from allears.understanding.runtime import OnnxReader

EMOTION, STRATEGY, RISK = "ed-emotion-turns", "strategy", "risk"
FEELING_TURNS = 3  # of the person's: how they feel now, not how they felt an hour ago


class Senses:
    """The reader's answers, as the listener wants them."""

    def __init__(self, reader: OnnxReader):
        self.reader = reader
        for name in (EMOTION, STRATEGY, RISK):
            reader.needs(name)

    def read(self, conversations: Sequence[Sequence[Turn]]) -> list[tuple[Likely, Likely]]:
        """For each: the 32 emotions and the 8 strategies with their probabilities, likeliest first."""
        feelings = [Reading(_spoken(turns)) for turns in conversations]
        talks = [Reading(tuple(turns[-STRATEGY_TURNS:])) for turns in conversations]
        found = self.reader.answers([*feelings, *talks])
        count = len(conversations)
        emotions, strategies = found[EMOTION][:count], found[STRATEGY][count:]
        return [(likely(EMOTION, emotions[row]), likely(STRATEGY, strategies[row])) for row in range(count)]

    def risk(self, text: str) -> Mapping[str, float]:
        """The crisis screen's trained layer: how likely each danger is, and none."""
        (chances,) = self.reader.answers([Reading((Turn(Role.SEEKER, text),))])[RISK]
        return dict(zip(HEADS[RISK].labels, map(float, chances), strict=True))


def _spoken(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    return tuple(Turn(turn.speaker, turn.text) for turn in turns if turn.speaker is Role.SEEKER)[
        -FEELING_TURNS:
    ]


def likely(head: str, chances: np.ndarray) -> Likely:
    order = np.argsort(-chances, kind="stable")
    return tuple((HEADS[head].labels[column], float(chances[column])) for column in order)
