"""Pieces of work on several cores at once, each piece on one.

A graph that shares out one small input among cores spends much of its time on the sharing; several inputs, each on a
core of its own, need none. onnxruntime and NumPy let other threads run while they compute, so threads are enough.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def side_by_side(work: Callable[[Item], Result], items: Sequence[Item], count: int) -> Iterator[Result]:
    """`work` done on every item, `count` at a time; the results in the order of the items."""
    if count < 2 or len(items) < 2:
        return map(work, items)
    return _threads(count).map(work, items)


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    """One pool for all graphs: two would crowd each other on the same cores. `work` must not ask for it again."""
    return ThreadPoolExecutor(count, thread_name_prefix="graphs")
