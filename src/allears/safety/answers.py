"""Short answers that matter once danger is in the room: "I'm safe now", "yes", "not really". Pure functions."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from allears.safety.patterns import pattern_table
from allears.safety.phrases import Phrase, compile_lines


@dataclass(frozen=True)
class ShortAnswer:
    phrases: tuple[Phrase, ...]
    unless: tuple[Phrase, ...] = ()

    def heard_in(self, text: str) -> bool:
        plain = pattern_table().normalise(text)
        words = frozenset(plain.split())
        return _any(self.phrases, plain, words) and not _any(self.unless, plain, words)


def says_safe(message: str) -> bool:
    """The person states that they are safe, and neither asks it nor takes it back in the same breath."""
    return "?" not in message and _answers()["safe"].heard_in(message)


def says_yes(message: str) -> bool:
    """A yes, also a hesitant one."""
    return _answers()["yes"].heard_in(message) and not says_no(message)


def says_no(message: str) -> bool:
    return _answers()["no"].heard_in(message)


def asks_about_danger(text: str) -> bool:
    """Something we said that asks whether the person is in danger."""
    return "?" in text and _answers()["asked"].heard_in(text)


def _any(phrases: tuple[Phrase, ...], text: str, words: frozenset[str]) -> bool:
    return any(True for phrase in phrases for _ in phrase.find(text, words))


@cache
def _answers() -> dict[str, ShortAnswer]:
    table = files("allears.safety") / "tables" / "answers.toml"
    entries = tomllib.loads(table.read_text(encoding="utf-8"))
    return {
        name: ShortAnswer(compile_lines(entry["phrases"], {}), compile_lines(entry.get("unless", ""), {}))
        for name, entry in entries.items()
    }
