"""Whom to call: the help lines of a country, as the page shows them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from allears.safety.replies import Help, countries, help_for, international


@dataclass(frozen=True, slots=True)
class HelpIn:
    """A country's help lines. `country` is None for the international ones, and for those of the machine's place."""

    country: str | None
    lines: Help

    def to_dict(self) -> dict[str, Any]:
        return {"country": self.country, **asdict(self.lines)}


def help_in(country: str | None, otherwise: str | None = None) -> HelpIn:
    """The lines of a country; where none is named, of the server's own. International ones where none are listed."""
    asked = (country or otherwise or "").strip().upper()
    if asked in countries():
        return HelpIn(asked, help_for(asked))
    return HelpIn(None, international() if asked else help_for(None))
