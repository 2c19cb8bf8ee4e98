"""What simulated raters say: systems differ by a known amount, items and raters by chance.

A system's level on a scale falls in even steps from the first system to the last, `effect` apart from end to end; each
item adds its own luck. Everything is a function of the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from allears.study import seeded
from allears.study.blocks import SIDES, TIE, ChoiceQuestion, Free, Likert, Preference, Question
from allears.study.design import Design
from allears.study.units import Unit

MIDDLE = 3.3  # of five points: where people's ratings of replies lie
ITEM_SPREAD, RATER_SPREAD = 0.6, 0.7
TIE_WIDTH = 0.35  # systems that are closer than this look alike
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Truth:
    design: Design
    effect: float = 0.5
    seed: int = 0

    def level(self, system: str) -> float:
        """How good a system is, above the worst. Attention checks have no system."""
        names = [each.name for each in self.design.systems]
        if len(names) < 2 or system not in names:
            return 0.0
        return self.effect * (len(names) - 1 - names.index(system)) / (len(names) - 1)

    def answers(self, unit: Unit, order: Sequence[int], rater: str, quality: float) -> dict[str, Any]:
        """What a rater answers: with the chance `quality` what they saw, otherwise anything."""
        found: dict[str, Any] = {}
        for question in self.design.questions:
            attentive = self._chance(rater, unit.key, question.key, "reads") < quality
            if isinstance(question, Likert) and self.design.shown_systems == 2:
                for place, which in enumerate(order):
                    system = _system(unit, which)
                    found[f"{question.key}.{SIDES[place]}"] = self._scale(
                        question, unit, system, rater, attentive
                    )
            elif isinstance(question, Likert):
                found[question.key] = self._scale(question, unit, _system(unit, 0), rater, attentive)
            elif isinstance(question, Preference):
                found[question.key] = self._better(question, unit, order, rater, attentive)
            elif isinstance(question, ChoiceQuestion):
                found |= self._option(question, unit, rater, attentive)
            else:
                found[question.key] = _words(question)
        return found

    def _scale(self, question: Likert, unit: Unit, system: str, rater: str, attentive: bool) -> int:
        if not attentive:
            return 1 + self._below(question.points, rater, unit.key, question.key, system)
        stretch = question.points / 5
        luck = self._luck(ITEM_SPREAD, unit.item, system, question.key)
        noise = self._luck(RATER_SPREAD, rater, unit.key, system, question.key)
        seen = (MIDDLE - self.effect / 2 + self.level(system) + luck + noise) * stretch
        return min(question.points, max(1, round(seen)))

    def _better(
        self, question: Preference, unit: Unit, order: Sequence[int], rater: str, attentive: bool
    ) -> str:
        choices = [*SIDES, *([TIE] if question.tie else [])]
        if not attentive:
            return choices[self._below(len(choices), rater, unit.key, question.key)]
        one, other = (
            self.level(system)
            + self._luck(ITEM_SPREAD, unit.item, system, question.key)
            + self._luck(RATER_SPREAD, rater, unit.key, system, question.key)
            for system in (_system(unit, which) for which in order)
        )
        if question.tie and abs(one - other) < TIE_WIDTH:
            return TIE
        return SIDES[0] if one > other else SIDES[1]

    def _option(self, question: ChoiceQuestion, unit: Unit, rater: str, attentive: bool) -> dict[str, Any]:
        words = (unit.item, question.key) if attentive else (rater, unit.key, question.key)
        option = question.options[self._below(len(question.options), *words)]
        return {question.key: option.key} | (
            {f"{question.key}.reason": "A made-up reason."} if option.reason else {}
        )

    def _chance(self, *words: object) -> float:
        return (seeded.number(self.seed, *words) + 0.5) / 2**64

    def _below(self, most: int, *words: object) -> int:
        return seeded.below(most, self.seed, *words)

    def _luck(self, spread: float, *words: object) -> float:
        share = min(1 - 1e-12, max(1e-12, self._chance(*words)))
        return spread * _NORMAL.inv_cdf(share)


def _system(unit: Unit, which: int) -> str:
    return unit.systems[which] if which < len(unit.systems) else ""


def _words(question: Question) -> str:
    least = question.least_words if isinstance(question, Free) else 0
    return " ".join(["words"] * max(3, least))
