"""Who gets which unit: random, balanced, seeded, blinded. Pure functions on what the store knows; see `store.py`.

A unit wants so many raters. It has room for another while those who answered and those who have it open are fewer. What
was given and not answered for a while counts as abandoned, so it makes room again. Each rater answers a unit at most
once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from allears.study import seeded
from allears.study.design import Checks, Raters


@dataclass(frozen=True, slots=True)
class UnitState:
    """A unit as it stands. `votes`: of those who answered and count, in the order they came; "" where there is no
    deciding question. `given`: how often it was handed out at all."""

    id: int
    key: str
    item: str
    systems: tuple[str, ...] = ()
    votes: tuple[str, ...] = ()
    open: int = 0
    given: int = 0
    check: int | None = None


@dataclass(frozen=True, slots=True)
class RaterState:
    """`had`: units that this rater answered or has open. `done` counts answered units, checks apart."""

    name: str
    done: int = 0
    had: frozenset[int] = frozenset()
    had_items: frozenset[str] = frozenset()
    systems: Mapping[str, int] = field(default_factory=Counter)
    checks: frozenset[int] = frozenset()


def majority(votes: Iterable[str]) -> str | None:
    """What more people chose than anything else, or None where two or more choices have the most votes."""
    counted = Counter(votes).most_common(2)
    if not counted or (len(counted) == 2 and counted[0][1] == counted[1][1]):
        return None
    return counted[0][0]


def wanted(votes: Sequence[str], raters: Raters) -> int:
    """How many raters a unit needs, after those who answered.

    MIME's rule: where no two of three annotators agree, a fourth is asked. In general, where the wanted number of
    raters leaves no majority, one more.
    """
    if raters.fourth and len(votes) >= raters.per_unit and majority(votes[: raters.per_unit]) is None:
        return raters.per_unit + 1
    return raters.per_unit


def room(unit: UnitState, raters: Raters) -> int:
    """How many more raters may be given this unit now."""
    return max(0, wanted(unit.votes, raters) - len(unit.votes) - unit.open)


def missing(unit: UnitState, raters: Raters) -> int:
    """How many answers the unit still lacks."""
    return max(0, wanted(unit.votes, raters) - len(unit.votes))


def choose(
    units: Sequence[UnitState], rater: RaterState, raters: Raters, checks: Checks, seed: int
) -> UnitState | None:
    """The next unit for a rater, or None if there is nothing for them.

    First the units that fewest have answered or are answering, so that all grow at the same pace; among those, the
    systems this rater has seen least; then chance.
    """
    if rater.done >= raters.units:
        return None
    due = due_check(units, rater, checks, seed)
    if due is not None:
        return due
    free = [
        unit
        for unit in units
        if unit.check is None
        and unit.id not in rater.had
        and not (raters.item_once and unit.item in rater.had_items)
        and room(unit, raters)
    ]
    if not free:
        return None

    def rank(unit: UnitState) -> tuple[int, int, int]:
        seen = sum(rater.systems.get(name, 0) for name in unit.systems)
        return len(unit.votes) + unit.open, seen, seeded.number(seed, rater.name, unit.key)

    return min(free, key=rank)


def due_check(units: Sequence[UnitState], rater: RaterState, checks: Checks, seed: int) -> UnitState | None:
    """The attention check a rater should get now: one in each window of units, at a place nobody can foresee."""
    if not checks.every:
        return None
    left = [unit for unit in units if unit.check is not None and unit.id not in rater.checks]
    if not left:
        return None
    if rater.done < _check_place(len(rater.checks), rater.name, checks, seed):
        return None
    return min(left, key=lambda unit: seeded.number(seed, rater.name, unit.key))


def _check_place(number: int, rater: str, checks: Checks, seed: int) -> int:
    """After how many units a rater's check of this number comes."""
    size = checks.every - 1
    return number * size + seeded.below(size, seed, rater, "check", number)


def checks_in(visit: int, rater: str, checks: Checks, seed: int) -> int:
    """How many checks a rater meets in a visit of so many units."""
    if not checks.every:
        return 0
    return sum(_check_place(number, rater, checks, seed) < visit for number in range(len(checks.items)))


def sides(unit: UnitState, seed: int) -> tuple[int, ...]:
    """In which order a unit's systems are shown this time: chance decides the first time, and then they alternate."""
    places = tuple(range(2)) if unit.check is not None or len(unit.systems) == 2 else (0,)
    turned = (seeded.number(seed, unit.key, "side") + unit.given) % 2
    return places[::-1] if turned and len(places) == 2 else places


def checks_failed(expect: Mapping[str, object], answers: Mapping[str, object], order: Sequence[int]) -> bool:
    """Whether somebody did not read. "first" and "second" are those of the check, wherever they were shown."""
    for key, expected in expect.items():
        given, right = answers.get(key), expected
        if expected in ("first", "second"):
            right = "AB"[list(order).index(0 if expected == "first" else 1)]
        elif "." in key:  # a scale of one of two replies: A is the first that the check lists
            name, _, side = key.partition(".")
            given = answers.get(f"{name}.{'AB'[list(order).index('AB'.index(side))]}")
        if given != right:
            return True
    return False
