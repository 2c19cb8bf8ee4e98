"""Whether a paper's claim held here: from the cells, never by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from allears.experiments.contract import Cell, Claim, Experiment, Key, Result


class VerdictWord(StrEnum):
    HELD = "held"
    LEANS = "held, but within the intervals"
    BARE = "held, with no interval to tell"
    FAILED = "did not hold"
    UNKNOWN = "not known"
    NOT_RUN = "not run yet"
    SMALL = "small run: says nothing"


@dataclass(frozen=True, slots=True)
class Verdict:
    claim: Claim
    word: VerdictWord
    numbers: tuple[float | None, ...]  # those of the claim's cells, in its order
    why: str = ""

    @property
    def discussion(self) -> str:
        """What we make of a claim that did not hold."""
        return self.claim.otherwise if self.word is VerdictWord.FAILED else ""


def judge(claim: Claim, cells: Mapping[Key, Cell]) -> Verdict:
    """Held: every step goes down by more than the two intervals; leans: it goes down, but by less; bare: it goes down,
    and there is no interval to tell by how much it should; failed: a step does not go down."""
    found = [
        Cell(each) if isinstance(each, float | int) else cells.get(each, Cell()) for each in claim.falling
    ]
    numbers = tuple(each.value if isinstance(each.value, float | int) else None for each in found)
    if None in numbers:
        empty = next(each for each in found if not isinstance(each.value, float | int))
        return Verdict(claim, VerdictWord.UNKNOWN, numbers, empty.why)
    steps = [_step(high, low) for high, low in pairwise(found)]
    worst = next(
        word
        for word in (VerdictWord.FAILED, VerdictWord.LEANS, VerdictWord.BARE, VerdictWord.HELD)
        if word in steps
    )
    return Verdict(claim, worst, numbers)


def _step(upper: Cell, lower: Cell) -> VerdictWord:
    high, low = _number(upper.value), _number(lower.value)
    if high <= low:
        return VerdictWord.FAILED
    bottom = high if upper.low is None else upper.low
    top = low if lower.high is None else lower.high
    if upper.low is None and lower.high is None:
        return VerdictWord.BARE
    return VerdictWord.HELD if bottom > top else VerdictWord.LEANS


def _number(value: float | str | None) -> float:
    assert isinstance(value, float | int)  # judge asked before
    return float(value)


def verdicts(experiment: Experiment, result: Result | None) -> list[Verdict]:
    if result is None:
        return [Verdict(claim, VerdictWord.NOT_RUN, ()) for claim in experiment.claims]
    found = [judge(claim, result.cells) for claim in experiment.claims]
    if not result.small:
        return found
    return [Verdict(each.claim, VerdictWord.SMALL, each.numbers, each.why) for each in found]
