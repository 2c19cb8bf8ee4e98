"""What is said when somebody may be in danger: fixed texts, written with care, never generated.

Every danger has a first text and several for the turns after it, of which the one comes that fits what was said best
(replies.toml). The first names people to reach: the emergency number and the help lines of the person's country
(help_lines.toml, or a file of your own); later ones do where they speak of them. A fixed text can always be said: what
cannot be found falls back to the international lines.
"""

from __future__ import annotations

import os
import tomllib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError
from allears.safety.dangers import Danger, Screening

ELSEWHERE = "ZZ"  # in the place of a country: one without lines of its own (CLDR's code for an unknown place)
ALSO_CALLED = {"UK": "GB"}
BELOW = "below"  # a text that speaks of the lines or people below is followed by them
OWN_LINES = "ALLEARS_HELP_LINES"  # names a file of your own, laid out as help_lines.toml

Vectors = Callable[[Sequence[str]], npt.NDArray[np.floating[Any]]]


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
    poison: tuple[HelpLine, ...] = ()

    def lines_for(self, danger: Danger) -> tuple[HelpLine, ...]:
        if danger is Danger.ABUSE:
            return self.abuse
        return (*self.poison, *self.crisis) if danger is Danger.OVERDOSE else self.crisis


def fixed_reply(
    screening: Screening,
    *,
    message: str = "",
    said: Sequence[str] = (),
    country: str | None = None,
    vectors: Vectors | None = None,
) -> str:
    """The text for what the screen decided.

    Args:
        message: What the person said, which a later text should fit.
        said: What was answered before; no text comes twice before all have come.
        country: An ISO 3166 code; without one, or with one that is not listed, the international lines are named.
        vectors: Vectors of texts, nearer for what is alike in meaning; without them texts come in their order.

    Raises `ValueError` for a screening that asks for no fixed text.
    """
    if not screening.takes_over:
        raise ValueError("this message needs no fixed reply; talk on")
    danger, people = screening.danger or Danger.SUICIDE, safe_help(country)
    texts, first = _texts()[danger.value], screening.state.turns <= 1
    if first:
        text = str(texts["for_another" if screening.state.for_another else "first"])
    else:
        text = _fitting(texts["later"], message, said, vectors)
    text = text.strip().format(emergency=people.emergency)
    with_lines = first or BELOW in text
    if not first:
        text = f"{text} {_texts()['misread']}"
    if not with_lines:
        return text
    found = people.lines_for(danger) or _all()[""].lines_for(danger)
    lines = "\n".join(f"- {line.name}: {line.reach} ({line.hours})" for line in found)
    return f"{text}\n\n{people.place}:\n{lines}"


def gentle_question(danger: Danger | None) -> str:
    """What is asked, once, where there is only a doubt."""
    return str(_texts()[(danger or Danger.SUICIDE).value]["question"])


def danger_answered(text: str) -> Danger | None:
    """The danger that one of our fixed texts was the answer to; None for any other text."""
    for danger in Danger:
        texts = _texts()[danger.value]
        for wording in (texts["first"], texts["for_another"], *(each["text"] for each in texts["later"])):
            if _is_said(wording, text):
                return danger
    return None


def _is_said(wording: str, text: str) -> bool:
    """Whether a reply begins with this text, whatever emergency number it names."""
    start, *rest = wording.strip().split("{emergency}")
    place = len(start)
    if not text.startswith(start):
        return False
    for part in rest:
        found = text.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return True


def _fitting(
    later: Sequence[Mapping[str, Any]], message: str, said: Sequence[str], vectors: Vectors | None
) -> str:
    """The text whose examples are nearest to the message, among those that came least often."""
    times = [sum(_is_said(each["text"], text) for text in said) for each in later]
    rare = [each for each, count in zip(later, times, strict=True) if count == min(times)]
    if vectors is None or not message.strip() or len(rare) == 1:
        return str(rare[0]["text"])
    examples = [example for each in rare for example in each["when"]]
    owners = [place for place, each in enumerate(rare) for _ in each["when"]]
    try:
        found = vectors([message, *examples])
    except Exception as error:  # whatever goes wrong in an encoder, a fixed text is said
        warnings.warn(f"the fixed texts could not be compared with the message: {error}", stacklevel=2)
        return str(rare[0]["text"])
    found = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
    return str(rare[owners[int(np.argmax(found[1:] @ found[0]))]]["text"])


def safe_help(country: str | None) -> Help:
    """Whom to call; the international lines where a country is not listed. Never raises."""
    try:
        return help_for(country)
    except AllearsError:  # also where a file of your own broke after the start: ours can always be read
        return _international(_toml("help_lines.toml"))


def checked_country(country: str | None) -> str | None:
    """The code of a country whose lines are listed, or an error in one sentence; None stays None.

    The lines are read here, so that a broken file of your own stops the start and not the first reply.
    """
    help_for(country)
    return country if country is None or country == ELSEWHERE else _code(country)


def _code(country: str) -> str:
    code = country.strip().upper()
    return ALSO_CALLED.get(code, code)


def help_for(country: str | None = None) -> Help:
    """Whom to call in a country; without one, or for `ELSEWHERE`, the international lines."""
    known = _all()
    if not country or country == ELSEWHERE:
        return known[""]
    found = known.get(_code(country))
    if found is None:
        listed = ", ".join(sorted(code for code in known if code))
        raise AllearsError(
            f"no help lines are listed for the country {country!r}; listed are {listed}. Leave the country out for "
            f"the international lines, or name a file of your own in {OWN_LINES}"
        )
    return found


def international() -> Help:
    """Whom to reach from anywhere."""
    return help_for(None)


@cache
def countries() -> Mapping[str, str]:
    """The countries whose help lines are listed: their codes and names, by name."""
    names = {country["code"]: str(country["name"]) for country in _lines()["country"]}
    return dict(sorted(names.items(), key=lambda item: item[1].removeprefix("the ").casefold()))


@cache
def _all() -> dict[str, Help]:
    raw = _lines()
    found = {"": _international(raw)}
    for country in raw["country"]:
        found[country["code"]] = _help(f"In {country['name']}", country)
    return found


@cache
def _lines() -> Mapping[str, Any]:
    """The lines that ship, and those of your own file: a country there goes before ours."""
    shipped = _toml("help_lines.toml")
    place = os.environ.get(OWN_LINES)
    if not place:
        return shipped
    try:
        own = tomllib.loads(Path(place).read_text(encoding="utf-8"))
        countries_of_own = own.get("country", [])
        codes = {country["code"] for country in countries_of_own}
        for country in countries_of_own:
            _help(str(country["name"]), country)
        merged = {"international": own.get("international", shipped["international"])}
        _international(merged)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise AllearsError(f"{place}: your help lines cannot be read ({error})") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise AllearsError(
            f"{place}: a country of your help lines lacks {error}; each is laid out as in help_lines.toml"
        ) from error
    rest = [country for country in shipped["country"] if country["code"] not in codes]
    return merged | {"country": [*countries_of_own, *rest]}


@cache
def _texts() -> Mapping[str, Any]:
    return _toml("replies.toml")


def _toml(name: str) -> Mapping[str, Any]:
    return tomllib.loads((files("allears.safety") / name).read_text(encoding="utf-8"))


def _international(raw: Mapping[str, Any]) -> Help:
    return _help("Wherever you are", raw["international"])


def _help(place: str, record: Mapping[str, Any]) -> Help:
    def lines(kind: str) -> tuple[HelpLine, ...]:
        chosen = (line for line in record["line"] if line["for"] == kind)
        return tuple(HelpLine(line["name"], line["reach"], line["hours"], line["source"]) for line in chosen)

    return Help(place, record["emergency"], lines("crisis"), lines("abuse"), lines("poison"))
