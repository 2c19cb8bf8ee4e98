"""Chance that can be repeated: the same words give the same number, on every machine and in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def number(*words: object) -> int:
    """64 bits that depend on all words and on nothing else."""
    text = "\x1f".join(map(str, words))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def below(most: int, *words: object) -> int:
    """0 to most - 1."""
    return number(*words) % most


def shuffled(items: Iterable[Item], *words: object) -> list[Item]:
    """In an order of its own for these words."""
    listed: Sequence[Item] = list(items)
    order = sorted(range(len(listed)), key=lambda place: (number(*words, place), place))
    return [listed[place] for place in order]
