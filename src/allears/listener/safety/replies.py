"""What is said when somebody may be in danger: fixed texts, written with care, never generated.

Every danger has a first text and several for the turns after it, so that nobody is answered twice in a row in the same
words. Each names people to reach: the emergency number and the help lines of the person's country (help_lines.toml).
"""

from __future__ import annotations

import locale
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from allears.errors import AllearsError
from allears.listener.safety.dangers import Danger, Screening
from allears.listener.safety.state import CHECK_BACK

_FIRST: Mapping[Danger, str] = MappingProxyType(
    {
        Danger.SUICIDE: "I'm glad you told me. I'm a program and I cannot keep you safe myself, but you deserve a person "
        "beside you right now. Are you thinking of ending your life? If you might act on it, please call {emergency}, or "
        "tell somebody near you this minute. I'm still here to listen.",
        Danger.SELF_HARM: "Thank you for saying that out loud. I'm a program, and I don't want to pass over this as if it "
        "were small. Are you hurt now? If you are badly hurt, please call {emergency} or go to somebody near you. You can "
        "tell me more, too.",
        Danger.ABUSE: "What is being done to you is not your fault, and I take it seriously. I'm a program, so I cannot "
        "step in, but people can. Are you safe at this moment? If not, call {emergency} as soon as you can do it safely. "
        "If somebody checks this device, close this page afterwards.",
        Danger.HARM_TO_OTHERS: "Something must hurt badly for it to come to this, and I'm glad you wrote it here first. I'm "
        "a program and cannot come between you. Please step away from them, into another room or outside, and if anybody "
        "may get hurt now, call {emergency}. They will help you as well.",
    }
)
_FIRST_FOR_ANOTHER: Mapping[Danger, str] = MappingProxyType(
    {
        Danger.SUICIDE: "That is frightening to carry, and you are right to take it seriously. I'm a program, so please "
        "bring people in: if they may act on it now, call {emergency} and stay with them, or send somebody who can. Asking "
        "them straight out whether they think of ending their life does no harm. The lines below advise you, too.",
        Danger.SELF_HARM: "It is hard to see somebody you care about being hurt like that, and good that you don't look "
        "away. I'm a program. If they are badly hurt, call {emergency}. Otherwise, tell them calmly that you noticed and "
        "that you are there; the lines below advise you as well.",
        Danger.ABUSE: "Thank you for not looking away. I'm a program and cannot step in, but people can. If somebody is "
        "being hurt right now, call {emergency}. The lines below are there for those who worry about somebody, too.",
        Danger.HARM_TO_OTHERS: "You are right to take this seriously. I'm a program and cannot act on it, so please do it "
        "at once: if somebody may get hurt, call {emergency} and say what you know. Keep yourself safe first.",
    }
)
_LATER: Mapping[Danger, tuple[str, ...]] = MappingProxyType(
    {
        Danger.SUICIDE: (
            "I'm still here, and I'm taking what you said seriously. Could you go to somebody you trust, or ask them to "
            "come to you? Until then, please put some distance between you and anything you could hurt yourself with. If "
            "it gets closer, call {emergency}.",
            "You don't have to get through tonight alone, only through the next few minutes. Who could be with you? A "
            "person who knows how to sit with this is one call away. In danger, it is {emergency}.",
            "I'm a program, and I'm staying with you in the way I can. Please let a person hear what you told me. You can "
            "begin with: I'm not safe, please stay with me. In danger, call {emergency}.",
        ),
        Danger.SELF_HARM: (
            "I hear how strong the urge is. Could you put what you would use out of reach and go where other people are, "
            "even just for the next quarter of an hour? If you are badly hurt, call {emergency}.",
            "What you feel is real, and you deserve care, not more pain. Is there one person who may know about this "
            "today? If you are badly hurt, call {emergency}.",
            "You can tell me what happened before it. And please let a person hear it as well; they will not be shocked. "
            "If you are badly hurt, call {emergency}.",
        ),
        Danger.ABUSE: (
            "You deserve to be safe. If it can be done safely, tell one person you trust what is going on, and think of a "
            "place you could go to. In danger, call {emergency}.",
            "None of this is yours to carry alone. The people below know how to plan a way to safety, quietly and at your "
            "pace, and they will not push you. In danger, call {emergency}.",
            "I'm a program, but I'm here, and I take this seriously. Are you somewhere safe while you write? If somebody is "
            "coming, leave this and look after yourself first. In danger, call {emergency}.",
        ),
        Danger.HARM_TO_OTHERS: (
            "Please give it some distance first: another room, a walk, your phone in your hand, anything that could hurt "
            "somebody out of reach. Nothing has to be decided now. If you may lose hold of it, call {emergency}.",
            "You can still be the one who stopped it. Talk to a person before anything else happens; asking for help is no "
            "crime. If anybody is in danger, call {emergency}.",
            "I'm a program, so I cannot hold you back, but people can help you to. Who could come to you, or take over for "
            "a while? If anybody is in danger, call {emergency}.",
        ),
    }
)
_MISREAD = "If I misread you, tell me that you are safe, and we talk on."
_CHECK_BACKS = (
    "I'm relieved to hear that. May I ask once more, to be sure: are you safe right now, and will you be for the rest of "
    "today? Yes or no is enough.",
    "Thank you for staying with me. Just tell me yes or no: are you safe for now?",
)


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
    turn = max(0, screening.state.turns - 1)
    if screening.answer == CHECK_BACK:
        return _CHECK_BACKS[turn % len(_CHECK_BACKS)]
    danger = screening.danger or Danger.SUICIDE
    people = help_for(country)
    text = _wording(danger, turn, screening.state.for_another).format(emergency=people.emergency)
    if turn > 0:  # the way out of a false alarm, not in the first breath
        text = f"{text} {_MISREAD}"
    lines = "\n".join(f"- {line.name}: {line.reach} ({line.hours})" for line in people.lines_for(danger))
    return f"{text}\n\n{people.place}:\n{lines}"


def _wording(danger: Danger, turn: int, for_another: bool) -> str:
    if turn == 0 or for_another and turn % 2 == 0:
        return (_FIRST_FOR_ANOTHER if for_another else _FIRST)[danger]
    later = _LATER[danger]
    return later[(turn - 1) % len(later)]


def help_for(country: str | None = None) -> Help:
    """Whom to call in a country. None: by the machine's locale; where that names none, the international lines."""
    known = _all()
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


def _own_country() -> str:
    """The country in the machine's locale, as in en_GB; nothing where it names a language alone."""
    return (locale.getlocale()[0] or "").partition("_")[2][:2].upper()


@cache
def _all() -> dict[str, Help]:
    table = files("allears.listener.safety") / "help_lines.toml"
    raw = tomllib.loads(table.read_text(encoding="utf-8"))
    found = {"": _help("Wherever you are", raw["international"])}
    for country in raw["country"]:
        found[country["code"]] = _help(f"In {country['name']}", country)
    return found


def _help(place: str, record: Mapping[str, Any]) -> Help:
    def lines(kind: str) -> tuple[HelpLine, ...]:
        chosen = (line for line in record["line"] if line["for"] == kind)
        return tuple(HelpLine(line["name"], line["reach"], line["hours"], line["source"]) for line in chosen)

    return Help(place, record["emergency"], lines("crisis"), lines("abuse"))
