"""Whom to call: the help lines of a country, as the page shows them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from allears.safety.replies import ALSO_CALLED, Help, countries, help_for, international


@dataclass(frozen=True, slots=True)
class HelpIn:
    """A country's help lines. `country` is None for the international ones."""

    country: str | None
    lines: Help

    def to_dict(self) -> dict[str, Any]:
        return {"country": self.country, **asdict(self.lines)}


def help_in(country: str | None, otherwise: str | None = None) -> HelpIn:
    """The lines of a country; where none is named, of the server's. International ones where none are listed."""
    asked = (country or otherwise or "").strip().upper()
    asked = ALSO_CALLED.get(asked, asked)
    return HelpIn(asked, help_for(asked)) if asked in countries() else HelpIn(None, international())
