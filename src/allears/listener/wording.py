"""Words, as far as the listener compares them: which say something, which are said already, which are new.

A reply from a pool must not presume: "losing your dog" is only for somebody who spoke of a dog. `presumed` finds the
things a reply speaks of that nobody mentioned (`particular.txt` lists what counts as such a thing).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
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
    return frozenset(stem(word) for word in _bare(text) if word in _PARTICULAR)


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


def presumed(reply: str, said: frozenset[str]) -> frozenset[str]:
    """What a reply speaks of that nobody mentioned."""
    return particular(reply) - said


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


@lru_cache(maxsize=KEPT)
def hears_first(text: str) -> bool:
    """Whether something is said before the question that closes a reply."""
    sentences = _SENTENCE_END.split(text.rstrip())
    ends = _SENTENCE_END.findall(text.rstrip())
    return text.rstrip().endswith("?") and len(sentences) > 1 and ends[0][0] != "?"
