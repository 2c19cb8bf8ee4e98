"""What a sentence states, as far as two sentences can be held against each other: of whom, what, yes or no.

"I don't really smoke anymore" and "I used to smoke" both deny (i, smoke). "I can't stand jazz" denies that jazz is
liked. Sentences about now and sentences about the past are different statements.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from allears.personas.plain import plain_words, stem

Stems = tuple[str, ...]

# They colour a sentence and decide nothing.
_FILLERS = re.compile(
    r"\b(?:really|also|just|currently|now|still|actually|very much|very|quite|so much|so|too|anymore|any more|"
    r"well|oh|yes|yeah|okay|ok|hi|hello|always|definitely|truly|totally|absolutely|basically|honestly|"
    r"especially|personally|at all|these days|nowadays|at the moment|a lot|a bit|as well|kind of|sort of)\b"
)
_ARTICLES = re.compile(r"\b(?:a|an|the|any|some)\b")
_ANSWER = re.compile(r"^no (?=i |my |we )")

_WHO = r"^(?P<who>i|we|my \w+)"
_FORMER = re.compile(
    _WHO + r" (?:used to(?= )|(?:have )?(?:stopped|quit|gave up|given up)(?= \w+ing\b))|\bno longer\b"
)
_BEGUN = re.compile(_WHO + r" (?:have )?(?:started|began|begun)(?: to(?= )|(?= \w+ing\b))")
_PAST = re.compile(
    _WHO + r" (?:\w+ed|was|were|did|had|went|got|made|took|gave|came|became|saw|knew|thought|bought|brought|"
    r"taught|caught|found|felt|left|lost|kept|met|sold|told|said|heard|held|stood|won|ran|sang|swam|drank|drove|"
    r"rode|wrote|ate|fell|grew|flew|drew|spoke|broke|chose|wore|built|spent|sent|slept|sat|paid|fought)\b"
)
_NEVER_PAST = re.compile(_WHO + r" (?:need|feed|bleed|breed|speed)\b")
_NOT = frozenset({"not", "never", "no"})
_DROPPED = _NOT | {"do", "does", "did"}

_LIKES = re.compile(
    _WHO + r"(?: do| does)?(?P<not>(?: not| never)?)"
    r" (?:(?P<liked>likes?|loves?|enjoys?|adores?)"
    r"|(?P<disliked>hates?|dislikes?|detests?|despises?|loathes?|can not (?:stand|bear))"
    r"|(?:am|is|are)(?P<not_fond>(?: not)?) (?:big |huge )?(?:fans? of|into|fond of|crazy about))"
    r" (?:to )?(?P<what>.+)$"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """`about` is what is affirmed or denied: stems, the subject first. `former`: denied as something that is over."""

    about: Stems
    affirmed: bool
    past: bool
    former: bool = False


@dataclass(frozen=True, slots=True)
class Attitude:
    """That somebody likes something, or does not."""

    who: str
    what: Stems
    liked: bool


def told(sentence: str) -> str:
    """The words that decide, in a row: no fillers, no punctuation."""
    plain = _ANSWER.sub("", " ".join(plain_words(sentence)))
    return " ".join(_FILLERS.sub(" ", plain).split())


def statement(sentence: str) -> Statement:
    words = _without_articles(told(sentence))
    now, former = _without_former(words)
    begun = _BEGUN.search(now)
    past = _PAST.search(words) is not None and not _NEVER_PAST.search(words) and not former and not begun
    kept = _BEGUN.sub(r"\g<who>", now).split()
    denied = sum(word in _NOT for word in kept) % 2 == 1
    about = tuple(stem(word) for word in kept if word not in _DROPPED)
    return Statement(about, affirmed=denied == former, past=past, former=former)


def attitude(sentence: str) -> Attitude | None:
    """The liking that a sentence states of somebody ("i", "my son"), or None."""
    now, former = _without_former(_without_articles(told(sentence)))
    found = _LIKES.search(now)
    if found is None:
        return None
    what = tuple(stem(word) for word in found["what"].split())
    denied = bool(found["not"] or found["not_fond"]) != former
    return Attitude(found["who"], what, liked=(found["disliked"] is None) != denied)


def _without_articles(text: str) -> str:
    return " ".join(_ARTICLES.sub(" ", text).split())


def _without_former(text: str) -> tuple[str, bool]:
    """Without "used to", "no longer" and their like, and whether there was one."""
    rest, times = _FORMER.subn(lambda match: match["who"] or "", text)
    return " ".join(rest.split()), times > 0
