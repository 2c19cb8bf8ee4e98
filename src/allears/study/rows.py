"""A study's rows as the rest of the house sees them: their states, people, units in hand, answers, counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from allears.study.units import Unit

NEW, CONSENTED, READY = "new", "consented", "ready"
SCREENED, DECLINED, WITHDRAWN = "screened", "declined", "withdrawn"
OPEN, COUNTED, SPARE, RETURNED = "open", "counted", "spare", "returned"


@dataclass(frozen=True, slots=True)
class Rater:
    """A participant, by a random name."""

    id: int
    name: str
    state: str
    source: str
    code: str


@dataclass(frozen=True, slots=True)
class Given:
    """A unit in a rater's hands. `key` is random; `order` says which of the unit's systems is shown first."""

    id: int
    key: str
    unit: Unit
    order: tuple[int, ...]
    given: float
    answered: bool = False


@dataclass(frozen=True, slots=True)
class RaterProgress:
    done: int
    of: int


@dataclass(frozen=True, slots=True)
class AnsweredUnit:
    """One rater's answers to one unit, for the analysis. `state`: counted, spare (more than were wanted) or screened
    (of a rater who failed the attention checks)."""

    rater: str
    unit: Unit
    order: tuple[int, ...]
    answers: Mapping[str, Any]
    seconds: float
    number: int
    state: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """How far a study is."""

    units: int
    wanted: int  # answers, fourth raters included
    counted: int
    open: int
    spare: int
    raters: int
    screened: int


def as_unit(row: Row[Any]) -> Unit:
    return Unit(row.key, json.loads(row.item), tuple(json.loads(row.systems)), row.check_number)


def as_rater(row: Row[Any]) -> Rater:
    return Rater(row.id, row.name, row.state, row.source, row.code)


def as_order(sides: str) -> tuple[int, ...]:
    return tuple(map(int, sides))


def encoded(value: Any) -> str:
    """JSON in ASCII: no database refuses it, whatever somebody typed."""
    return json.dumps(value, sort_keys=True)
