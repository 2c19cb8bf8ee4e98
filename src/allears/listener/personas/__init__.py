"""The persona that the listener itself speaks with: some to choose from, and replies in their colours.

In PEC's setting the one who answers has a persona, and the response that fits it is chosen. Presets and free text work
alike: what is ranked against is the sentences. The replies of `lines.jsonl` borrow their pictures from gardens,
kitchens and workshops; they are proposed only where the listener was given a persona, and claim no life of their own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from allears.listener.pool import Line, read_pool

LINES = Path(__file__).parent / "lines.jsonl"


@dataclass(frozen=True, slots=True)
class Preset:
    """A persona to choose: a name for people, and the sentences that replies are ranked with."""

    id: str
    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseStudy:
    """One message and several personas to answer it, side by side, as in the PEC paper's case study."""

    title: str
    message: str
    personas: tuple[Preset, ...]


@cache
def presets() -> tuple[Preset, ...]:
    return tuple(
        Preset(record["id"], record["title"], tuple(record["sentences"])) for record in _file()["persona"]
    )


@cache
def case_study() -> CaseStudy:
    record = _file()["case_study"]
    known = {preset.id: preset for preset in presets()}
    return CaseStudy(record["title"], record["message"], tuple(known[name] for name in record["personas"]))


def lines_in_character() -> list[Line]:
    """Replies in the colours of the presets."""
    return read_pool(LINES)


def _file() -> Mapping[str, Any]:
    return tomllib.loads((files("allears.listener.personas") / "presets.toml").read_text(encoding="utf-8"))
