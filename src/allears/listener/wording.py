"""Words, as far as the listener compares them: which say something, which are said already, which are new.

A reply from a pool must not presume: "losing your dog" is only for somebody who spoke of a dog. `presumed` finds the
things a reply speaks of that nobody mentioned (`particular.txt` lists what counts as such a thing).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

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


@lru_cache(maxsize=50_000)
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


@lru_cache(maxsize=50_000)
def particular(text: str) -> frozenset[str]:
    """Stems of the words that name a thing, a person or an event."""
    return frozenset(stem(word) for word in words(text) if word in _PARTICULAR)


@lru_cache(maxsize=50_000)
def telling(text: str) -> frozenset[str]:
    """Stems of all words that are not common in replies to anybody."""
    return frozenset(
        stem(word) for word in words(text) if len(word) > 2 and word not in _PLAIN and "'" not in word
    )


def stems(texts: Iterable[str]) -> frozenset[str]:
    """Stems of everything that was said."""
    return frozenset(stem(word) for text in texts for word in words(text))


def presumed(reply: str, said: frozenset[str]) -> frozenset[str]:
    """What a reply speaks of that nobody mentioned."""
    return particular(reply) - said


def overlap(first: str, second: str) -> float:
    """Share of the shorter text's different words that the other has too."""
    one, other = set(words(first)), set(words(second))
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def opening(text: str, count: int = 2) -> tuple[str, ...]:
    """How a reply begins."""
    return tuple(words(text)[:count])
