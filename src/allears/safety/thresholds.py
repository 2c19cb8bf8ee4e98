"""How sure the learned screen must be: thresholds.toml, fitted on the valid split by
`python -m allears.training.safety.fit_thresholds`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files

from allears.errors import AllearsError


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Probabilities, from 0 to 1. A message is read with what was said before it, and a long one in parts as well."""

    clear: float  # any danger, in the whole message
    doubt: float  # any danger or a doubt, in the whole message
    part_clear: float  # the same in one part of a long message, without what stands around it
    part_doubt: float
    outright: float  # any danger, where an outright phrase was found
    all_clear: float  # that the message is an honest all-clear

    @classmethod
    def parse(cls, text: str) -> Thresholds:
        try:
            table = tomllib.loads(text)["thresholds"]
            found = cls(**{each.name: float(table[each.name]) for each in fields(cls)})
        except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
            raise AllearsError(f"thresholds.toml: not the screen's thresholds ({error})") from error
        for each in fields(cls):
            if not 0 < getattr(found, each.name) < 1:
                raise AllearsError(f"thresholds.toml: {each.name} must lie between 0 and 1")
        return found


@cache
def shipped_thresholds() -> Thresholds:
    return Thresholds.parse((files("allears.safety") / "thresholds.toml").read_text(encoding="utf-8"))
