"""One thing to read and what it is labelled with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from allears.conversation import Role, Turn

# One word piece each: a whole conversation's strategies must cost few tokens.
STRATEGY_WORDS = {
    "Question": "question",
    "Restatement or Paraphrasing": "repeat",
    "Reflection of feelings": "reflect",
    "Self-disclosure": "share",
    "Affirmation and Reassurance": "reassure",
    "Providing Suggestions": "suggest",
    "Information": "inform",
    "Others": "other",
}
SHOWN_STRATEGIES = 24  # of the latest; few conversations have more


@dataclass(frozen=True, slots=True)
class Reading:
    """What a head reads, and its gold labels: one, or for GoEmotions one or more; none when nothing is known.

    A supporter's turn that carries a `strategy` is read with the strategy shown before its words.
    `earlier` are the turns before `turns`, of which only their number and their strategies are read (`so_far`);
    None for heads that do not ask how far a conversation is.
    `rationales` are the parts of the last turn that show what the label says (EPITOME).
    `conversation` and `position` say where the labelled turn stands, so that readings of one conversation can
    be told in order.
    """

    turns: tuple[Turn, ...]
    labels: tuple[str, ...] = ()
    rationales: tuple[str, ...] = ()
    conversation: str = ""
    position: int = 0
    earlier: tuple[Turn, ...] | None = None

    @property
    def label(self) -> str:
        """The first label; an empty text where there is none."""
        return self.labels[0] if self.labels else ""

    @property
    def text(self) -> str:
        """All that is read in a row, for classifiers that read one text."""
        shown = (turn.text for turn in self.shown_turns)
        return " ".join(shown if self.so_far is None else (self.so_far, *shown))

    @property
    def bare(self) -> Reading:
        """The words of its turns alone: no strategies, and not how far the conversation is."""
        return replace(self.without_strategies, earlier=None)

    @property
    def without_strategies(self) -> Reading:
        """The same, as it is where nobody noted what the supporter did."""
        earlier = self.earlier
        return replace(
            self,
            turns=tuple(replace(turn, strategy=None) for turn in self.turns),
            earlier=None if earlier is None else tuple(replace(turn, strategy=None) for turn in earlier),
        )

    @property
    def so_far(self) -> str | None:
        """How far the conversation is and what the supporter did in it, the latest first: "5 turns: suggest question".

        The latest stands first, so that it always has the same place and a limit cuts off the oldest.
        """
        if self.earlier is None:
            return None
        past = (*self.earlier, *self.turns)
        done = [
            turn.strategy for turn in past if turn.speaker is Role.SUPPORTER and turn.strategy is not None
        ]
        names = [STRATEGY_WORDS.get(name, name.lower()) for name in done[: -SHOWN_STRATEGIES - 1 : -1]]
        return " ".join((f"{len(past)} turns:", *names))

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
