"""A rule takes rows away, under a name, for a reason, and says how many.

Rules are Ibis expressions: a condition on a table that is true of the rows to remove. A list of rules is
applied in one pass: every row gets the name of the first rule that removes it, or none. Nothing is dropped
before it is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import ibis
from ibis import ir

REMOVED_BY = "removed_by"


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    why: str
    removes: Callable[[ir.Table], ir.BooleanValue]


@dataclass(frozen=True, slots=True)
class RuleCount:
    """What one rule did: of `unit`s, `removed` went and `left` stayed."""

    name: str
    why: str
    unit: str
    removed: int
    left: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def mark(table: ir.Table, rules: Sequence[Rule]) -> ir.Table:
    """The same rows with a column `removed_by`: the first rule that removes the row, or null."""
    if not rules:
        return table.mutate(**{REMOVED_BY: ibis.null("string")})
    branches = [(rule.removes(table).fill_null(False), rule.name) for rule in rules]
    return table.mutate(**{REMOVED_BY: ibis.cases(*branches, else_=ibis.null("string"))})


def kept(table: ir.Table) -> ir.Table:
    """The rows that no rule removed, without the column that says so."""
    return table.filter(table[REMOVED_BY].isnull()).drop(REMOVED_BY)


def tally(table: ir.Table) -> dict[str | None, int]:
    """How many rows each rule removed; those that stayed under None."""
    counted = table.group_by(REMOVED_BY).agg(rows=table.count()).to_pyarrow().to_pylist()
    return {row[REMOVED_BY]: row["rows"] for row in counted}


def counts(rules: Iterable[Rule], found: dict[str | None, int], unit: str) -> list[RuleCount]:
    """The tally as a list in the order of the rules."""
    left = sum(found.values())
    listed = []
    for rule in rules:
        removed = found.get(rule.name, 0)
        left -= removed
        listed.append(RuleCount(rule.name, rule.why, unit, removed, left))
    return listed
