"""Every sentence about a person is kept with the turn that said so, and only if that turn really did.

A sentence is dropped where

- it is not about the person who speaks (no "I", "my", "we"),
- it has a content word that its turn never said, in this or another inflection (the few framing words of
  "I like ..." excepted, which an extractor may need to turn an answer into a sentence), or
- it says the opposite of what its turn says, by the rules of `contradiction`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from allears.conversation import Conversation, PersonaSentence, Role
from allears.personas.contract import PersonaExtractor
from allears.personas.contradiction import Meaning, meaning, opposition
from allears.personas.plain import plain_words
from allears.personas.support import FRAMING_WORDS, bases, content_words, said_bases
from allears.personas.wording import sentences

_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself", "we", "us", "our", "ours"})


class ExtractionDoubt(StrEnum):
    """Why a sentence was not kept."""

    NOT_THEIRS = "not in the first person"
    NEVER_SAID = "words that were never said"
    OPPOSITE = "the turn says the opposite"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A produced sentence that its turn does not bear out."""

    sentence: PersonaSentence
    doubt: ExtractionDoubt


@dataclass(frozen=True, slots=True)
class Extraction:
    """What some turns of one person tell, in their order. `unread` are the numbers of turns in another script."""

    kept: tuple[PersonaSentence, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    unread: tuple[int, ...] = ()

    @property
    def doubts(self) -> Mapping[str, int]:
        """How many sentences were dropped, by why."""
        return dict(Counter(item.doubt.value for item in self.dropped))


def sift(texts: Iterable[str], number: int, source: str) -> Extraction:
    """Sentences that were taken from turn `number`, whose words are `source`: those to keep and those to drop."""
    said, words = [meaning(sentence) for sentence in dict.fromkeys(sentences(source))], said_bases(source)
    kept: list[PersonaSentence] = []
    dropped: list[Dropped] = []
    for text in dict.fromkeys(texts):
        sentence = PersonaSentence(text, turn_source(number))
        why = _doubt(text, said, words)
        if why is None:
            kept.append(sentence)
        else:
            dropped.append(Dropped(sentence, why))
    return Extraction(tuple(kept), tuple(dropped))


def _doubt(text: str, said: Sequence[Meaning], words: frozenset[str]) -> ExtractionDoubt | None:
    if FIRST_PERSON.isdisjoint(plain_words(text)):
        return ExtractionDoubt.NOT_THEIRS
    new = [word for word in content_words(text) if words.isdisjoint(bases(word))]
    if any(word not in FRAMING_WORDS for word in new):
        return ExtractionDoubt.NEVER_SAID
    told = meaning(text)
    return ExtractionDoubt.OPPOSITE if any(opposition(each, told) for each in said) else None


def extract_each(extractor: PersonaExtractor, turns: Sequence[tuple[int, str]]) -> list[Extraction]:
    """What each turn tells by itself: (number, words) pairs in, sentences with their source "turn N" out."""
    read = [row for row, (_, text) in enumerate(turns) if in_latin_letters(text)]
    told = extractor.extract([turns[row][1] for row in read]) if read else []
    found = [
        Extraction(unread=(number,) if _LETTER.search(text) and not in_latin_letters(text) else ())
        for number, text in turns
    ]
    for row, texts in zip(read, told, strict=True):
        found[row] = sift(texts, *turns[row])
    return found


def extract_persona(extractor: PersonaExtractor, turns: Sequence[tuple[int, str]]) -> Extraction:
    """What one person's turns tell together."""
    parts = extract_each(extractor, turns)
    return Extraction(
        tuple(sentence for part in parts for sentence in part.kept),
        tuple(item for part in parts for item in part.dropped),
        tuple(number for part in parts for number in part.unread),
    )


def in_latin_letters(text: str) -> bool:
    """Whether a text is mostly in the letters of English; digits, signs and emoji are no letters."""
    latin, letters = len(_LATIN.findall(text)), len(_LETTER.findall(text))
    return letters > 0 and 2 * latin >= letters


def turn_source(number: int) -> str:
    """The `source` of a sentence that turn `number` said; turns are counted from 1."""
    return f"turn {number}"


def turns_by_person(conversation: Conversation, role: Role = Role.SEEKER) -> dict[str, list[tuple[int, str]]]:
    """The numbered turns of everybody with that role, under the name that `personas` knows them by."""
    found: dict[str, list[tuple[int, str]]] = {}
    for number, turn in enumerate(conversation.turns, 1):
        if turn.speaker is role:
            found.setdefault(turn.author or role.value, []).append((number, turn.text))
    return found
