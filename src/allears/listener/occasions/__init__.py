"""Answers to what people tell most often: each occasion has words by which it is known, and answers of its own.

"We had to put our cat to sleep" is one of a few hundred things that many people tell. The nearest of thousands of
replies is often beside the point there; an answer written for that very occasion is not. An occasion is known by
phrases and not by likeness, so it is rarely taken for another, and what is not among them is left to the other
proposers. The tables beside this file say how one is written (`lists.toml` holds the word lists of their phrases).
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.labels import STRATEGIES
from allears.listener.contract import OCCASION, TURN_OF_TALK, Proposal
from allears.listener.occasions.anchors import anchors
from allears.listener.occasions.lists import FILE, phrases

MOST = 2  # occasions of one message that are answered, the most telling first
MOODS = {"hard": (0.0, 0.8), "good": (0.2, 1.0), "any": (0.0, 1.0)}  # how good what was read may be
_HERE = Path(__file__).parent
_SENTENCE = re.compile(r"[^.!?…\n]+[!?.…]*")
_NAME = re.compile(r"\{([A-Z]+)\}")
_SLOT = re.compile(r"\{(\w+)\}")
# What stands before it in the sentence and makes it another thing: feared, hoped for, denied, read in a book.
_UNREAL = re.compile(
    r"\b(?:if|unless|imagine[ds]?|dream(?:s|t|ed)?|pretend(?:s|ed)?|scared|afraid|terrified|worried|worry|fear|hop(?:e|es|ed|ing)|"
    r"wish(?:es|ed)?|almost|nearly|might|may|could|would|should|didn't|don't|doesn't|isn't|wasn't|aren't|weren't|won't|"
    r"haven't|hasn't|hadn't|not|never|nobody|film|movie|book|episode|heard|read|ask(?:s|ed)? whether)\b"
)


@dataclass(frozen=True, slots=True)
class Occasion:
    """`loose`: known also where it is feared, denied or asked. `texts` may name what a phrase caught: {pet}.
    `general`: of a turn of the talk and not of what happened; what happened is answered first."""

    name: str
    says: tuple[str, ...]
    unless: tuple[str, ...]
    mood: str
    strategy: str
    texts: tuple[str, ...]
    loose: bool = False
    general: bool = False


@dataclass(frozen=True, slots=True)
class OccasionMatch:
    """An occasion found in a message, with what its phrase caught and how much of the message it is."""

    occasion: Occasion
    caught: Mapping[str, str]
    length: int


def answers(turns: Sequence[Turn], stage: str, good: float, seed: int = 0) -> list[Proposal]:
    """One answer for each occasion of the last message that was not answered before."""
    if stage in ("opening", "ending") or not turns:
        return []
    said = [turn.text for turn in turns if turn.speaker is Role.SUPPORTER]
    asked_twice = len(said) > 1 and all(text.rstrip().endswith("?") for text in said[-2:])
    drawn = random.Random(f"{seed} {len(turns)} {turns[-1].text}")
    found: list[Proposal] = []
    for told in occasions_in(turns[-1].text, good):
        texts = [filled for text in told.occasion.texts if (filled := _filled(text, told.caught))]
        if not texts or any(_was_said(text, said) for text in told.occasion.texts):
            continue
        quiet = [text for text in texts if not text.endswith("?")]
        text = drawn.choice(quiet if asked_twice and quiet else texts)
        strategy = "Question" if text.endswith("?") else told.occasion.strategy
        found.append(Proposal(text, TURN_OF_TALK if told.occasion.general else OCCASION, strategy))
        if len(found) == MOST:
            break
    return found


def occasions_in(message: str, good: float = 0.5) -> list[OccasionMatch]:
    """What a message tells, the most telling first; `good`: how likely it is something good."""
    whole = _plain(message)
    sentences = [(_plain(sentence), sentence.endswith("?")) for sentence in _SENTENCE.findall(message)]
    found = []
    for occasion in shipped_occasions():
        least, most = MOODS[occasion.mood]
        if not least <= good <= most:
            continue
        likely = [phrase for phrase in occasion.says if _may_match(phrase, whole)]
        told = max(_matches(occasion, likely, sentences), key=lambda each: each.length, default=None)
        if told is not None and not any(_compiled(phrase).search(whole) for phrase in occasion.unless):
            found.append(told)
    return sorted(found, key=lambda told: (told.occasion.general, -told.length))


def _may_match(phrase: str, text: str) -> bool:
    return any(word in text for word in anchors(phrase))


def _matches(
    occasion: Occasion, phrases: Sequence[str], sentences: Sequence[tuple[str, bool]]
) -> Iterator[OccasionMatch]:
    """`sentences`: each with whether it asks."""
    for phrase in phrases:
        for sentence, asks in sentences:
            match = _compiled(phrase).search(sentence) if _may_match(phrase, sentence) else None
            if match is None:
                continue
            if not occasion.loose and (asks or _UNREAL.search(sentence[: match.start()])):
                continue
            caught = {name: text for name, text in match.groupdict().items() if text}
            yield OccasionMatch(occasion, caught, match.end() - match.start())


def _plain(text: str) -> str:
    """Small letters and apostrophes; one blank between words."""
    return " ".join(re.sub(r"[^\w\s']", " ", text.lower().replace("\u2019", "'")).split())


def _filled(text: str, caught: Mapping[str, str]) -> str:
    """The answer with what was caught in it; nothing where it names what was not."""
    if not set(_SLOT.findall(text)) <= set(caught):
        return ""
    filled = _SLOT.sub(lambda match: caught[match[1]], text)
    return filled[0].upper() + filled[1:]


def _was_said(text: str, said: Sequence[str]) -> bool:
    pattern = _SLOT.sub(".+", re.escape(text).replace(r"\{", "{").replace(r"\}", "}"))
    return any(re.fullmatch(pattern, each, re.IGNORECASE) for each in said)


@cache
def _compiled(phrase: str) -> re.Pattern[str]:
    """When a message may match it: a few hundred phrases are not compiled to say hello."""
    return re.compile(rf"\b(?:{phrase})\b")


def read_ahead() -> None:
    """Reads the tables now rather than for the first message."""
    for occasion in shipped_occasions():
        for phrase in occasion.says:
            anchors(phrase)


@cache
def shipped_occasions() -> tuple[Occasion, ...]:
    found = []
    for path in sorted(_HERE.glob("*.toml")):
        if path.name != FILE:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
            general = bool(table.get("general", False))
            found += [_read(each, path.name, general=general) for each in table["occasion"]]
    return tuple(found)


def _whole(phrase: str) -> str:
    """A phrase with everything that it names put in."""
    while found := _NAME.search(phrase):
        if found[1] not in phrases():
            raise AllearsError(f"occasions: no list or phrase {found[1]} in {FILE}, for {phrase}")
        phrase = phrase.replace(found[0], phrases()[found[1]])
    return phrase


def _read(stored: Mapping[str, Any], place: str, *, general: bool = False) -> Occasion:
    occasion = Occasion(
        str(stored["name"]),
        tuple(map(_whole, stored["says"])),
        tuple(map(_whole, stored.get("unless", ()))),
        str(stored.get("mood", "any")),
        str(stored["strategy"]),
        tuple(stored["texts"]),
        bool(stored.get("loose", False)),
        general,
    )
    if occasion.mood not in MOODS or occasion.strategy not in STRATEGIES:
        raise AllearsError(f"{place}: {occasion.name}: no such mood or strategy")
    return occasion
