"""How well a scorer tells good replies from those that are plain or off, by blind readers' marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allears.conversation import Conversation, Persona, Role
from allears.errors import AllearsError
from allears.listener.writing import Scorer
from allears.metrics.ranking import area_under_curve


@dataclass(frozen=True, slots=True)
class ScorerReport:
    """In percent: how often a good reply is scored above one that is off, and above any other."""

    n: int
    good_above_off: float
    good_above_rest: float

    def flat(self) -> dict[str, float | int]:
        return {"n": self.n, "auc_good_off": self.good_above_off, "auc_good_rest": self.good_above_rest}


def evaluate_scorer(scorer: Scorer, marked: Sequence[Conversation]) -> ScorerReport:
    """`marked`: conversations that end with the reply (`corpora.marked`)."""
    marks = np.array([str(each.labels["mark"]) for each in marked])
    for mark in ("good", "off"):
        if mark not in marks:
            raise AllearsError(f"there is no reply marked {mark} to measure with")
    worth = np.array(
        [
            scorer.score(
                each.turns[:-1],
                each.personas.get(Role.SEEKER.value, Persona()).texts,
                [each.turns[-1].text],
            )[0]
            for each in marked
        ]
    )
    good = worth[marks == "good"]
    return ScorerReport(
        len(marked),
        100 * area_under_curve(good, worth[marks == "off"]),
        100 * area_under_curve(good, worth[marks != "good"]),
    )
