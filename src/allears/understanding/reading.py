"""One thing to read and what it is labelled with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from allears.conversation import Turn


@dataclass(frozen=True, slots=True)
class Reading:
    """What a head reads, and its gold labels: one, or for GoEmotions one or more; none when nothing is known.

    A supporter's turn that carries a `strategy` is read with the strategy shown before its words.
    `rationales` are the parts of the last turn that show what the label says (EPITOME).
    `conversation` and `position` say where the labelled turn stands, so that readings of one conversation can
    be told in order.
    """

    turns: tuple[Turn, ...]
    labels: tuple[str, ...] = ()
    rationales: tuple[str, ...] = ()
    conversation: str = ""
    position: int = 0

    @property
    def label(self) -> str:
        """The first label; an empty text where there is none."""
        return self.labels[0] if self.labels else ""

    @property
    def text(self) -> str:
        """All turns in a row, for classifiers that read one text."""
        return " ".join(turn.text for turn in self.shown_turns)

    @property
    def shown_turns(self) -> tuple[Turn, ...]:
        """The turns with their words as they are read."""
        return tuple(
            turn if turn.strategy is None else replace(turn, text=f"[{turn.strategy}] {turn.text}")
            for turn in self.turns
        )


def gold_mask(readings: Sequence[Reading], labels: Sequence[str]) -> np.ndarray:
    """[N, labels]: which labels are true."""
    column = {label: position for position, label in enumerate(labels)}
    gold = np.zeros((len(readings), len(labels)), np.bool_)
    for row, reading in enumerate(readings):
        for label in reading.labels:
            gold[row, column[label]] = True
    return gold
