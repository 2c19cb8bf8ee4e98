"""The persona that the listener itself speaks with (PEC's setting): some to choose from.

A voice is told its sentences, and chosen replies are ranked with them. Presets and free text work alike.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


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


def _file() -> Mapping[str, Any]:
    return tomllib.loads((files("allears.listener.personas") / "presets.toml").read_text(encoding="utf-8"))
