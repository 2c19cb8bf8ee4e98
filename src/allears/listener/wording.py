"""Words, as far as the listener compares them: which say something, which are said already, which are new.

A reply from a pool must not presume: "losing your dog" is only for somebody who spoke of a dog. `presumed` finds the
things a reply speaks of that nobody mentioned (`particular.txt` lists what counts as such a thing).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

KEPT = 10_000  # answers that each of these functions keeps: a pool's replies come again and again
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")

_HERE = Path(__file__).parent


def _listed(name: str) -> list[str]:
    lines = (_HERE / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


_GROUP = {word: group.split()[0] for group in _listed("alike.txt") for word in group.split()}
_PARTICULAR = frozenset(word for line in _listed("particular.txt") for word in line.split())
_PLAIN = frozenset(word for line in _listed("plain.txt") for word in line.split())
_ENDINGS = (
    ("'s", ""), ("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("ly", ""),
)  # fmt: skip


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("\u2019", "'"))


@lru_cache(maxsize=KEPT)
def stem(word: str) -> str:
    """A word without its commonest endings; words for the same thing become one."""
    if word in _GROUP:
        return _GROUP[word]
    for ending, rest in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            shorter = word[: len(word) - len(ending)] + rest
            if len(shorter) > 3 and shorter[-1] == shorter[-2] and ending in ("ing", "ed"):
                shorter = shorter[:-1]
            return _GROUP.get(shorter, shorter.removesuffix("e"))
    return word.removesuffix("e") if len(word) > 4 else word


@lru_cache(maxsize=KEPT)
def particular(text: str) -> frozenset[str]:
    """Stems of the words that name a thing, a person or an event."""
    return frozenset(
        stem(word) for word in _bare(text) if word in _PARTICULAR or word.removesuffix("s") in _PARTICULAR
    )


@lru_cache(maxsize=KEPT)
def telling(text: str) -> frozenset[str]:
    """Stems of all words that are not common in replies to anybody."""
    return frozenset(
        stem(word) for word in _bare(text) if len(word) > 2 and word not in _PLAIN and "'" not in word
    )


def _bare(text: str) -> list[str]:
    """The words without a possessive: what is said of the dog's basket is said of the dog."""
    return [word.removesuffix("'s") for word in words(text)]


def stems(texts: Iterable[str]) -> frozenset[str]:
    """Stems of everything that was said."""
    return frozenset(stem(word) for text in texts for word in words(text))


@cache
def _implied() -> dict[str, frozenset[str]]:
    return {
        first: frozenset(others)
        for first, *others in (map(stem, line.split()) for line in _listed("implied.txt"))
    }


def implied(said: frozenset[str]) -> frozenset[str]:
    """Stems of what goes without saying, given the stems of what was said (`implied.txt`)."""
    found = _implied()
    return frozenset().union(*(found[each] for each in said & found.keys()))


def presumed(reply: str, said: frozenset[str]) -> frozenset[str]:
    """What a reply speaks of that nobody mentioned."""
    return particular(reply) - said


@lru_cache(maxsize=KEPT)
def stated(reply: str) -> str:
    """A reply without its questions."""
    return " ".join(each for each in _SENTENCE.findall(reply) if not each.rstrip().endswith("?"))


@lru_cache(maxsize=KEPT)
def vocabulary(reply: str) -> frozenset[str]:
    """The different words of a reply."""
    return frozenset(words(reply))


def overlap(first: str, second: str) -> float:
    """Share of the shorter reply's different words that the other has too."""
    one, other = vocabulary(first), vocabulary(second)
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


@lru_cache(maxsize=KEPT)
def opening(text: str, count: int = 2) -> tuple[str, ...]:
    """How a reply begins."""
    return tuple(words(text)[:count])


_SENTENCE_END = re.compile(r"[.!?]\s+(?=\S)")
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
_OF_PERSONS = stems(["i i'm i've i'd me my we our you you're you've you'd your a an the and so"])
_WHEN = re.compile(
    r"\b(?:this (?:morning|afternoon|evening|week)|last (?:night|week|month|year)|yesterday|tonight|tomorrow)\b",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|\d+) (?:hours|days|weeks|months|years)\b",
    re.IGNORECASE,
)
# "What did you do when they shouted?" says that they shouted
_GRANTED = re.compile(
    r"\b(?:when|now that|since|after|that|how|because) (?:you|they|he|she|your|the|nobody|somebody)\b[^?.!]*",
    re.IGNORECASE,
)
_NOT = re.compile(r"n't\b|\b(?:not|never|no|nobody|nothing|nowhere|without|cannot)\b", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:i|we) (?:\w+n't|never|did not|have not|do not)(?: even| ever| really| just)* ([a-z]{4,})",
    re.IGNORECASE,
)
_UNDONE = re.compile(
    rf"{_NOT.pattern}|\b(?:from|before|if|would|could|stop|stops|want|afraid)\b", re.IGNORECASE
)  # what may be said of things not done
# "Your daughter won?" tells as much as it asks; "Did your daughter win?" only asks.
_TELLS_YOU = re.compile(r"\W*(?:so |and |oh,? |wow,? )*(?:you(?:'ve|'re|'d)?|your)\b", re.IGNORECASE)


@lru_cache(maxsize=KEPT)
def claims(text: str) -> frozenset[str]:
    """The telling words of those sentences that tell the person something about themselves, questions or not, and of
    what a question takes for granted."""
    return frozenset().union(*map(telling, (*_told_you(text), *_GRANTED.findall(text))))


def _told_you(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE.findall(text) if _TELLS_YOU.match(sentence)]


@lru_cache(maxsize=KEPT)
def tells_not(text: str) -> bool:
    """Whether a reply tells the person that something is not so."""
    return any(map(_NOT.search, _told_you(text)))


@lru_cache(maxsize=KEPT)
def done(text: str) -> frozenset[str]:
    """Stems of the sentences of a reply that speak of what was done: "How did you tell them?" """
    return frozenset().union(*(stems([each]) for each in _SENTENCE.findall(text) if not _UNDONE.search(each)))


def denies(said: Iterable[str]) -> bool:
    """Whether a person says anywhere that something is not so."""
    return any(map(_NOT.search, said))


def denied(said: Iterable[str]) -> frozenset[str]:
    """Stems of what a person says they did not do."""
    return frozenset(stem(match[1].lower()) for each in said for match in _DENIED.finditer(each))


@lru_cache(maxsize=KEPT)
def times(text: str) -> frozenset[str]:
    """When it was, as a reply puts it: "yesterday"."""
    return frozenset(match[0].lower() for match in _WHEN.finditer(text))


@lru_cache(maxsize=KEPT)
def spans(text: str) -> frozenset[str]:
    """How long it was, as a reply puts it: "three months"."""
    return frozenset(match[0].lower() for match in _SPAN.finditer(text))


@lru_cache(maxsize=KEPT)
def tells_you(text: str) -> frozenset[str]:
    """Stems of all words, common or not, with which a reply tells the person about themselves; none if it does not."""
    return stems(_told_you(text)) - _OF_PERSONS


@lru_cache(maxsize=KEPT)
def hears_first(text: str) -> bool:
    """Whether something is said before the question that closes a reply."""
    sentences = _SENTENCE_END.split(text.rstrip())
    ends = _SENTENCE_END.findall(text.rstrip())
    return text.rstrip().endswith("?") and len(sentences) > 1 and ends[0][0] != "?"
