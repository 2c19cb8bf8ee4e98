"""Answers with the letters taken off: one judgement is one rater's answer to one question about one unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from allears.study.answers import by_system
from allears.study.design import Design
from allears.study.frozen import Frozen
from allears.study.items import group_of
from allears.study.rows import COUNTED, AnsweredUnit


@dataclass(frozen=True, slots=True)
class Judgement:
    """`system`: whom a rating is for; of a preference, `systems` are the two that were compared and `value` is the
    better one's name or "tie". `seconds` are those of the whole unit."""

    rater: str
    unit: str
    item: str
    question: str
    value: Any
    system: str = ""
    systems: tuple[str, ...] = ()
    emotion: str = ""
    group: str = ""
    seconds: float = 0.0


def judgements(design: Design, frozen: Frozen, answered: Iterable[AnsweredUnit]) -> list[Judgement]:
    """Those that count, in the order they came."""
    found: list[Judgement] = []
    for each in answered:
        if each.state != COUNTED:
            continue
        item = frozen.items[each.unit.item].talk
        shared: Mapping[str, Any] = {
            "rater": each.rater,
            "unit": each.unit.key,
            "item": each.unit.item,
            "systems": each.unit.systems,
            "emotion": item.emotion or "",
            "group": group_of(item, design.items),
            "seconds": each.seconds,
        }
        for question, system, value in by_system(design, each.answers, each.unit.systems, each.order):
            found.append(Judgement(question=question, system=system, value=value, **shared))
    return found


def by_unit(rows: Iterable[Judgement]) -> dict[str, list[Judgement]]:
    found: dict[str, list[Judgement]] = {}
    for row in rows:
        found.setdefault(row.unit, []).append(row)
    return found


def by_item(rows: Iterable[Judgement]) -> dict[str, list[Judgement]]:
    found: dict[str, list[Judgement]] = {}
    for row in rows:
        found.setdefault(row.item, []).append(row)
    return found
