"""Small studies for the tests: a folder with made-up items and outputs, and a store that nobody waits for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allears.study.design import Design
from allears.study.design_file import read_design
from allears.study.frozen import Frozen, freeze
from allears.study.rows import CONSENTED, NEW, READY, Given, Rater
from allears.study.store import Store
from allears.study.units import build_units

TOP = """
title = "A small study"
seed = 7
[consent]
text = "Do you want to?"
[instructions]
text = "Read, then answer."
"""
LIKERT = """
[[blocks]]
type = "conversation"
[[blocks]]
type = "replies"
[[blocks]]
type = "likert"
key = "empathy"
text = "Does it understand?"
"""
PREFERENCE = """
[[blocks]]
type = "conversation"
[[blocks]]
type = "replies"
systems = 2
[[blocks]]
type = "preference"
key = "better"
text = "Which is better?"
"""
CHAT = """
[[blocks]]
type = "situation"
[[blocks]]
type = "chat"
systems = 2
least_turns = 2
most_turns = 3
[[blocks]]
type = "preference"
key = "overall"
text = "Who was better?"
"""
COLLECT = """
[[blocks]]
type = "describe"
text = "Describe it."
least_words = 3
[[blocks]]
type = "paired-chat"
least = 4
most = 8
away_after = 60
"""
RATERS = """
[raters]
per_unit = {per_unit}
units = {units}
fourth = "{fourth}"
least_seconds = {least_seconds}
abandoned_after = {abandoned_after}
"""
ITEMS = '\n[items]\nfile = "items.jsonl"\n'


def item(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"item-{number}",
        "turns": [{"speaker": "seeker", "text": f"Our hen laid egg number {number} today."}],
        "situation": f"You counted {number} eggs and somebody dropped them.",
        **more,
    }


def system(name: str, file: str = "", **more: str) -> str:
    extra = "".join(f'{key} = "{value}"\n' for key, value in more.items())
    return f'\n[[systems]]\nname = "{name}"\noutputs = "{file or f"{name}.jsonl"}"\n{extra}'


def write_study(
    folder: Path,
    blocks: str,
    *,
    items: Sequence[dict[str, Any]] | int = 4,
    systems: Sequence[str] = (),
    more: str = "",
    per_unit: int = 3,
    units: int = 50,
    fourth: str = "",
    least_seconds: float = 0,
    abandoned_after: float = 1800,
) -> Path:
    """A study's folder; each of `systems` has an output for every item."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [item(number) for number in range(items)] if isinstance(items, int) else list(items)
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in systems:
        # what a system says does not give away its name
        said = [{"item": row["id"], "text": f"That is {len(name)} times good news."} for row in rows]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in said))
    raters = RATERS.format(
        per_unit=per_unit,
        units=units,
        fourth=fourth,
        least_seconds=least_seconds,
        abandoned_after=abandoned_after,
    )
    text = TOP + blocks + raters + ITEMS + "".join(system(name) for name in systems) + more
    (folder / "study.toml").write_text(text)
    return folder


def frozen_study(folder: Path) -> tuple[Design, Frozen]:
    design = read_design(folder)
    return design, freeze(design, folder)


class Hands:
    """A clock that stands still until it is put forward."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def open_store(url: str, folder: Path, clock: Any = None) -> Store:
    design, frozen = frozen_study(folder)
    return Store(url, design, build_units(design, frozen), frozen.digest, clock=clock or Hands())


def ready_rater(store: Store) -> Rater:
    """Somebody who agreed and read the instructions."""
    rater = store.rater(store.new_link())
    store.set_state(rater, CONSENTED, after=(NEW,))
    store.set_state(rater, READY, after=(CONSENTED,))
    return store.again(rater)


def taken(store: Store, rater: Rater) -> Given:
    """The next unit, which must be there."""
    given = store.next(rater)
    assert given is not None
    return given


def side_of(given: Given, name: str) -> str:
    """The letter that a system stands under."""
    if name == "tie":
        return name
    return "AB"[given.order.index(given.unit.systems.index(name))]
