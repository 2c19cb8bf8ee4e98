"""How well a scorer tells good replies from others: areas under the curve, accuracy, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from allears.conversation import Conversation, Persona, Role, Turn
from allears.errors import AllearsError
from allears.labels import MARKS
from allears.listener.fitting import Fit
from allears.metrics.ranking import area_under_curve

BINS = 10


class ScoresReplies(Protocol):
    def score(self, turns: Sequence[Turn], known: Sequence[str], replies: Sequence[str]) -> list[Fit]: ...


@dataclass(frozen=True, slots=True)
class ScorerReport:
    """Percentages. `auc_good_off` is how often a good reply is worth more than one that is off."""

    n: int
    auc_good_off: float
    auc_good_rest: float
    accuracy: float
    ece: float  # of "good": the mean gap between how likely and how often

    def flat(self) -> dict[str, float | int]:
        return {
            "n": self.n,
            "auc_good_off": self.auc_good_off,
            "auc_good_rest": self.auc_good_rest,
            "accuracy": self.accuracy,
            "ece": self.ece,
        }


def evaluate_scorer(scorer: ScoresReplies, marked: Sequence[Conversation]) -> ScorerReport:
    """`marked`: conversations that end with the reply (`corpora.marked`)."""
    marks = np.array([MARKS.index(str(each.labels["mark"])) for each in marked])
    for mark in ("good", "off"):
        if MARKS.index(mark) not in marks:
            raise AllearsError(f"there is no reply marked {mark} to measure with")
    fits = [
        scorer.score(
            each.turns[:-1],
            each.personas.get(Role.SEEKER.value, Persona()).texts,
            [each.turns[-1].text],
        )[0]
        for each in marked
    ]
    good, worth = np.array([fit.good for fit in fits]), np.array([fit.worth for fit in fits])
    chances = np.array([[fit.good, 1 - fit.good - fit.off, fit.off] for fit in fits])
    is_good, is_off = marks == MARKS.index("good"), marks == MARKS.index("off")
    return ScorerReport(
        len(marked),
        100 * area_under_curve(worth[is_good], worth[is_off]),
        100 * area_under_curve(worth[is_good], worth[~is_good]),
        100 * float((chances.argmax(1) == marks).mean()),
        100 * _calibration_error(good, is_good),
    )


def _calibration_error(chance: np.ndarray, true: np.ndarray) -> float:
    places = np.minimum((chance * BINS).astype(int), BINS - 1)
    gaps = [
        abs(float(chance[places == each].mean() - true[places == each].mean()))
        * float((places == each).mean())
        for each in np.unique(places)
    ]
    return sum(gaps)
