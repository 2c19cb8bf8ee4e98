"""Seeded samples: the same limit and seed choose the same examples, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError

Item = TypeVar("Item")


def sample_positions(count: int, limit: int | None, seed: int) -> npt.NDArray[np.int64]:
    """Positions of the examples to evaluate: all, or a seeded sample in corpus order."""
    if limit is None or limit >= count:
        return np.arange(count)
    if limit < 1:
        raise AllearsError(f"--limit takes at least 1 example, got {limit}")
    return np.sort(np.random.default_rng(seed).choice(count, limit, replace=False))


def plain_sample(items: Sequence[Item], limit: int | None, seed: int) -> list[Item]:
    """The items themselves, drawn by Python's own generator, as replies and scripts always were."""
    if limit is None or limit >= len(items):
        return list(items)
    return [items[position] for position in sorted(Random(seed).sample(range(len(items)), limit))]
