"""What one rater answers at once: an item, shown with so many systems as the design says, or an attention check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from allears.study.design import Design
from allears.study.frozen import Frozen


@dataclass(frozen=True, slots=True)
class Unit:
    """`key` is the study's own name for it and is never shown to a rater. `check`: which attention check it is."""

    key: str
    item: str
    systems: tuple[str, ...] = ()
    check: int | None = None


def build_units(design: Design, frozen: Frozen) -> list[Unit]:
    """Every unit of a study, in a fixed order; the checks come last."""
    shown: Sequence[tuple[str, ...]]
    if design.shown_systems == 2:
        shown = design.system_pairs()
    elif design.shown_systems == 1:
        shown = [(system.name,) for system in design.systems]
    else:
        shown = [()]
    units = [
        Unit(f"{number}/{place}", item, systems)
        for number, item in enumerate(frozen.items)
        for place, systems in enumerate(shown)
    ]
    if design.checks.every:
        units += [Unit(f"check/{number}", "", check=number) for number in range(len(design.checks.items))]
    return units
