"""What is said when somebody may be in danger: fixed texts, written with care, never generated.

Every danger has a first text and several for the turns after it, so that nobody is answered twice in a row in the same
words (replies.toml). Each names people to reach: the emergency number and the help lines of the person's country
(help_lines.toml).
"""

from __future__ import annotations

import locale
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from allears.errors import AllearsError
from allears.safety.dangers import Danger, Screening
from allears.safety.state import CHECK_BACK

ELSEWHERE = "ZZ"  # in the place of a country: one without lines of its own (CLDR's code for an unknown place)


@dataclass(frozen=True, slots=True)
class HelpLine:
    """One service. `reach` completes a sentence: "Samaritans: call 116 123"."""

    name: str
    reach: str
    hours: str
    source: str


@dataclass(frozen=True, slots=True)
class Help:
    """Whom to call in one country, or anywhere."""

    place: str  # "In Ireland"
    emergency: str
    crisis: tuple[HelpLine, ...]
    abuse: tuple[HelpLine, ...]

    def lines_for(self, danger: Danger) -> tuple[HelpLine, ...]:
        return self.abuse if danger is Danger.ABUSE else self.crisis


def fixed_reply(screening: Screening, *, country: str | None = None) -> str:
    """The text for what the screen decided. `country` is an ISO 3166 code; None goes by the machine's locale.

    Raises `ValueError` for a screening that asks for no fixed reply.
    """
    if screening.answer is None:
        raise ValueError("this message needs no fixed reply; talk on")
    texts, turn = _texts(), max(0, screening.state.turns - 1)
    if screening.answer == CHECK_BACK:
        return _in_turn(texts["check_back"], turn)
    danger = screening.danger or Danger.SUICIDE
    people = help_for(country)
    text = _wording(texts[danger.value], turn, screening.state.for_another).format(emergency=people.emergency)
    if turn > 0:
        text = f"{text} {texts['misread']}"
    lines = "\n".join(f"- {line.name}: {line.reach} ({line.hours})" for line in people.lines_for(danger))
    return f"{text}\n\n{people.place}:\n{lines}"


def danger_answered(text: str) -> Danger | None:
    """The danger that one of our fixed texts was the answer to; None for any other text."""
    for danger in Danger:
        texts = _texts()[danger.value]
        for wording in (texts["first"], texts["for_another"], *texts["later"]):
            if text.startswith(wording.partition("{")[0]):
                return danger
    return None


def _wording(texts: Mapping[str, Any], turn: int, for_another: bool) -> str:
    if turn == 0:
        return str(texts["for_another" if for_another else "first"])
    return _in_turn(texts["later"], turn - 1)


def _in_turn(texts: Sequence[str], turn: int) -> str:
    return texts[turn % len(texts)]


def help_for(country: str | None = None) -> Help:
    """Whom to call in a country. None: by the machine's locale; where that names none, the international lines.

    `ELSEWHERE` asks for those, wherever the machine is.
    """
    known = _all()
    if country == ELSEWHERE:
        return known[""]
    if country:
        found = known.get(country.strip().upper())
        if found is None:
            listed = ", ".join(sorted(code for code in known if code))
            raise AllearsError(
                f"no help lines are listed for the country {country!r}; listed are {listed}. Leave the country out for "
                "the international lines, or add yours to help_lines.toml"
            )
        return found
    return known.get(_own_country(), known[""])


def international() -> Help:
    """Whom to reach from anywhere."""
    return help_for(ELSEWHERE)


@cache
def countries() -> Mapping[str, str]:
    """The countries whose help lines are listed: their codes and names, by name."""
    names = {country["code"]: str(country["name"]) for country in _toml("help_lines.toml")["country"]}
    return dict(sorted(names.items(), key=lambda item: item[1].removeprefix("the ").casefold()))


def _own_country() -> str:
    """The country in the machine's locale, as in en_GB; nothing where it names a language alone."""
    return (locale.getlocale()[0] or "").partition("_")[2][:2].upper()


@cache
def _all() -> dict[str, Help]:
    raw = _toml("help_lines.toml")
    found = {"": _help("Wherever you are", raw["international"])}
    for country in raw["country"]:
        found[country["code"]] = _help(f"In {country['name']}", country)
    return found


@cache
def _texts() -> Mapping[str, Any]:
    return _toml("replies.toml")


def _toml(name: str) -> Mapping[str, Any]:
    return tomllib.loads((files("allears.safety") / name).read_text(encoding="utf-8"))


def _help(place: str, record: Mapping[str, Any]) -> Help:
    def lines(kind: str) -> tuple[HelpLine, ...]:
        chosen = (line for line in record["line"] if line["for"] == kind)
        return tuple(HelpLine(line["name"], line["reach"], line["hours"], line["source"]) for line in chosen)

    return Help(place, record["emergency"], lines("crisis"), lines("abuse"))
