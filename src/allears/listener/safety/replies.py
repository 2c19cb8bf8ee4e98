"""What is said when somebody may be in danger: fixed texts, written with care, never generated.

Each danger has three wordings, for the first, the second and every later turn, and each ends with people to reach:
an emergency number and help lines of the person's country (`help_lines.toml`).
"""

from __future__ import annotations

import locale
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from allears.errors import AllearsError
from allears.listener.safety.dangers import Danger, Screening
from allears.listener.safety.state import CHECK_BACK

_TEXTS: dict[Danger, tuple[str, ...]] = {
    Danger.SUICIDE: (
        "I'm really glad you told me. I'm a program and cannot keep you safe myself, but you deserve a person beside "
        "you right now. Are you thinking of ending your life tonight? If you might act on it, please call {emergency}, "
        "or let somebody nearby know this minute.",
        "I'm still here, and I'm taking what you said seriously. Could you go to somebody you trust, or ask them to "
        "come to you? Until then, please put some distance between you and anything you could hurt yourself with. If "
        "it gets closer, call {emergency}.",
        "You don't have to carry this minute alone. A person who knows how to sit with this is one call away, and they "
        "want you to call. If you are in danger now, it is {emergency}.",
    ),
    Danger.SELF_HARM: (
        "Thank you for saying that out loud. I'm a program, and I don't want to pass over this as if it were small. Are "
        "you hurt now? If you need a doctor, or cannot stop, please call {emergency} or tell somebody near you.",
        "I hear how strong the urge is. Could you put what you would use out of reach and go where other people are, "
        "even just for the next quarter of an hour? If you are badly hurt, call {emergency}.",
        "What you feel is real, and there are people who have helped many others through exactly this. Please let one "
        "of them hear you. If you are badly hurt, call {emergency}.",
    ),
    Danger.ABUSE: (
        "What is being done to you is not your fault, and I believe you. I'm a program, so I cannot step in, but people "
        "can. Are you safe at this moment? If not, call {emergency} as soon as you can do it safely.",
        "You deserve to be safe. If it is safe to do so, tell one person you trust what is going on, and think of a "
        "place you could go to. If this screen could be seen by somebody who hurts you, close it first. In danger, call "
        "{emergency}.",
        "None of this is yours to bear alone. The people below know how to plan a way to safety, quietly and at your "
        "pace. In danger, call {emergency}.",
    ),
    Danger.HARM_TO_OTHERS: (
        "Something must have hurt badly for it to come to this, and I'm glad you wrote it instead of doing it. I'm a "
        "program. If somebody may get hurt now, please step away from them and call {emergency}.",
        "Please give it some distance first: another room, a walk, your phone in your hand. Nothing has to be decided "
        "tonight. If you feel you may lose hold of it, call {emergency}; they will help you as well.",
        "You can still be the one who stopped it. Talk to a person before anything else happens. If anybody is in "
        "danger, call {emergency}.",
    ),
}
_CHECK_BACKS = (
    "I'm relieved to hear that. May I ask once more, to be sure: are you safe right now, and will you be tonight?",
    "Thank you for staying with me. Just tell me yes or no: are you safe for now?",
)
_ABOUT = {Danger.ABUSE: "abuse"}  # which lines help; all other dangers have "crisis" lines


@dataclass(frozen=True, slots=True)
class HelpLine:
    name: str
    reach: str  # "call 116 123"
    hours: str
    source: str


@dataclass(frozen=True, slots=True)
class Help:
    """Whom to call in one country, or anywhere."""

    place: str
    emergency: str
    crisis: tuple[HelpLine, ...]
    abuse: tuple[HelpLine, ...]


def fixed_reply(screening: Screening, *, country: str | None = None) -> str:
    """The text for what the screen decided. `country` is an ISO 3166 code; None goes by the machine's locale."""
    turn = max(0, screening.state.turns - 1)
    if screening.answer == CHECK_BACK:
        return _CHECK_BACKS[min(turn, len(_CHECK_BACKS) - 1)]
    danger = screening.danger or Danger.SUICIDE
    texts, found = _TEXTS[danger], help_for(country)
    lines = found.abuse if _ABOUT.get(danger) == "abuse" else found.crisis
    people = "\n".join(f"- {line.name}: {line.reach} ({line.hours})" for line in lines)
    text = texts[min(turn, len(texts) - 1)].format(emergency=found.emergency)
    return f"{text}\n\n{found.place}:\n{people}"


def help_for(country: str | None = None) -> Help:
    """Whom to call in a country; where none is known or listed, the international ones."""
    code = (country or _own_country()).upper()
    known = _all()
    if country and code not in known:
        raise AllearsError(
            f"no help lines are listed for the country {country!r}; listed are {', '.join(sorted(c for c in known if c))}"
        )
    return known.get(code, known[""])


def _own_country() -> str:
    name = locale.getlocale()[0] or ""
    return name.partition("_")[2][:2]


@cache
def _all() -> dict[str, Help]:
    raw = tomllib.loads(files(__package__).joinpath("help_lines.toml").read_text(encoding="utf-8"))
    found = {"": _help("Wherever you are", raw["international"])}
    for country in raw["country"]:
        found[country["code"]] = _help(f"In {country['name']}", country)
    return found


def _help(place: str, record: dict[str, Any]) -> Help:
    def lines(kind: str) -> tuple[HelpLine, ...]:
        chosen = (line for line in record["line"] if line["for"] == kind)
        return tuple(HelpLine(line["name"], line["reach"], line["hours"], line["source"]) for line in chosen)

    return Help(place, record["emergency"], lines("crisis"), lines("abuse"))
