"""Messages that were answered beforehand: who writes something like one of them is told one of its answers.

A reply is found more surely by what it was written for than by its own words: "my flight was cancelled" lies near "they
cancelled our flight, we're stuck here", and what was said to the one can be said to the other. A line of a file is

    {"mood": "hard", "messages": ["...", "..."], "answers": ["...", "..."]}

`mood` (hard, good, any) says whether it is bad news or good; it may be left out. An answer may name what the person
named: {dog|cat} is whichever of these words they wrote, and {PET} any word of that list (`occasions/lists.toml`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from allears.listener.lines import read_lines
from allears.listener.occasions.lists import word_lists

SHIPPED = Path(__file__).parent
MOODS = ("hard", "good", "any")
_WORD = re.compile(r"[\w-]+")
_SLOT = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Answered:
    """Messages of one kind and what can be said to any of them."""

    messages: tuple[str, ...]
    answers: tuple[str, ...]
    mood: str = "any"


def read_answered(path: Path | str) -> list[Answered]:
    """The answered messages of a .jsonl file, or of all such files in a folder. Lines of other kinds are left out."""
    return list(read_lines(path, _group))


@cache
def shipped_answered() -> tuple[Answered, ...]:
    return tuple(read_answered(SHIPPED))


def filled(answer: str, message: str) -> str:
    """The answer with what the person named in it; nothing where it names what they did not."""
    text = f" {' '.join(_WORD.findall(message.lower()))} "
    missing = False

    def named(slot: re.Match[str]) -> str:
        nonlocal missing
        found = [(text.find(f" {word} "), word) for word in _words(slot[1]) if f" {word} " in text]
        missing = missing or not found
        return min(found)[1] if found else ""

    spoken = _SLOT.sub(named, answer)
    return "" if missing else spoken[0].upper() + spoken[1:]


@cache
def _words(slot: str) -> tuple[str, ...]:
    """What may stand in a slot: its own words, and those of the lists it names."""
    found: list[str] = []
    for option in slot.split("|"):
        found += word_lists()[option] if option.isupper() else [option]
    return tuple(found)


def _group(record: Any) -> Answered | None:
    if "messages" not in record:
        return None
    messages, answers = (_texts(record, key) for key in ("messages", "answers"))
    mood = record.get("mood", "any")
    if mood not in MOODS:
        raise ValueError(f"unknown mood {mood!r}; known are {', '.join(MOODS)}")
    for slot in (slot for answer in answers for slot in _SLOT.findall(answer)):
        unknown = [option for option in slot.split("|") if option.isupper() and option not in word_lists()]
        if unknown:
            raise ValueError(
                f"there is no list {unknown[0]!r} for {{{slot}}}; there are {', '.join(word_lists())}"
            )
    return Answered(messages, answers, mood)


def _texts(record: Any, key: str) -> tuple[str, ...]:
    texts = record.get(key)
    if (
        not isinstance(texts, list)
        or not texts
        or not all(isinstance(each, str) and each.strip() for each in texts)
    ):
        raise ValueError(f'"{key}" must be a list of one or more texts')
    return tuple(text.strip() for text in texts)
