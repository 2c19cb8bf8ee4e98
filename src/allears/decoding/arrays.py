"""The little that searches do with arrays, for NumPy and torch alike (the namespace comes from the array)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device, to_device

from allears.decoding.contract import Array, Constraint, Processor, Reorder, State

_PART = 32  # numbers of which only the best is looked at first

Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.int64]


def take_rows(state: State, rows: Sequence[int]) -> State:
    """The `Reorder` of a state that is a tuple of arrays, batch first."""
    if not isinstance(state, tuple):
        raise TypeError(
            f"a {type(state).__name__} is no tuple of arrays; give the search the `reorder` that belongs to its step"
        )
    return tuple(array_namespace(part).take(part, integers(rows, part), axis=0) for part in state)


def following(state: State, rows: Sequence[int], before: int, reorder: Reorder) -> State:
    """The state of those of its rows that go on; untouched where all do, in their places, or none does."""
    return reorder(state, rows) if rows and list(rows) != list(range(before)) else state


def scored(
    logits: Array,
    examples: Sequence[int],
    written: Sequence[Sequence[int]],
    processors: Iterable[Processor] = (),
    constraint: Constraint | None = None,
) -> Array:
    """log P [B, V] as the model gave it, then what processors and the constraint change.

    Nothing is normalised again afterwards: a hypothesis that the model would have liked to write differently shall not
    look likely because it was forced.
    """
    xp = array_namespace(logits)
    if logits.dtype not in (xp.float32, xp.float64):  # half precision is too coarse to add up
        logits = xp.astype(logits, xp.float32)
    top = xp.max(logits, axis=-1, keepdims=True)
    total = xp.log(xp.sum(xp.exp(logits - top), axis=-1, keepdims=True))
    for process in processors:
        logits = process(logits, written)
    likely = logits - top - total
    if constraint is None:
        return likely
    bias = constraint.bias(examples, written)
    return likely + xp.asarray(bias, dtype=likely.dtype, device=device(likely))


def top_values(values: Array, count: int) -> Array:
    """The `count` largest of each row [B, count], largest first; fewer where a row is shorter.

    The standard has no top-k, and sorting a whole vocabulary is ten times slower than what libraries have beside it.
    """
    xp = array_namespace(values)
    count = min(count, values.shape[-1])
    if hasattr(xp, "topk") and count < values.shape[-1]:  # torch
        return xp.topk(values, count, dim=-1).values
    if hasattr(xp, "partition") and len(values):  # NumPy
        return np.stack([_top_of_row(row, count) for row in values])
    return xp.sort(values, axis=-1, descending=True)[:, :count]


def _top_of_row(row: Floats, count: int) -> Floats:
    found = np.full(count, -np.inf, row.dtype)
    least = _surely_beaten(row, count)
    # partition is slow where many are equal, as all that is barred
    free = row[row >= least] if least > -np.inf else row[row > -np.inf]
    best = np.sort(np.partition(free, len(free) - count)[-count:] if len(free) > count else free)[::-1]
    found[: len(best)] = best
    return found


def _surely_beaten(row: Floats, count: int) -> float:
    """Something that at least `count` numbers reach, and few do: of the best of many small parts the `count`-th. Ten
    times faster than a partition of the whole row."""
    parts = len(row) // _PART
    if parts <= 2 * count:
        return -math.inf
    best = row[: parts * _PART].reshape(_PART, parts).max(axis=0)
    return float(np.partition(best, parts - count)[parts - count])


def largest(values: Array, count: int) -> list[list[tuple[float, int]]]:
    """The `count` largest of each row and where they stand; of equal ones the first. Never -inf, so maybe fewer."""
    found: list[list[tuple[float, int]]] = []
    for places, scores in free_places(values, at_least=top_values(values, count)[:, -1:]):
        pairs = zip(scores.tolist(), places.tolist(), strict=True)
        found.append(sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:count])
    return found


def free_places(values: Array, at_least: Array | None = None) -> list[tuple[Integers, Floats]]:
    """Where each row is not -inf (nor less than `at_least` [B, 1]), and what stands there; as NumPy arrays."""
    xp = array_namespace(values)
    rows, size = values.shape
    kept = values > -xp.inf
    if at_least is not None:
        kept = kept & (values >= at_least)
    flat = xp.nonzero(xp.reshape(kept, (-1,)))[0]  # of one dimension: much faster than of two
    found = host(xp.take(xp.reshape(values, (-1,)), flat, axis=0))
    places = host(flat)
    borders = np.searchsorted(places, size * np.arange(rows + 1))
    parts = [slice(*pair) for pair in pairwise(borders.tolist())]
    return [(places[part] - size * row, found[part]) for row, part in enumerate(parts)]


def bar(logits: Array, barred: npt.NDArray[np.bool_]) -> Array:
    """-inf where `barred` ([B, V] or [V]) says so."""
    xp = array_namespace(logits)
    return xp.where(xp.asarray(barred, device=device(logits)), _constant(logits, -xp.inf), logits)


def bar_tokens(logits: Array, barred: Sequence[Sequence[int]]) -> Array:
    """-inf at each row's tokens; the logits themselves where there are none."""
    pairs = [(row, token) for row, tokens in enumerate(barred) for token in tokens]
    if not pairs:
        return logits
    rows, places = (integers(side, logits) for side in zip(*pairs, strict=True))
    xp = array_namespace(logits)
    found = xp.asarray(logits, copy=True)
    found[rows, places] = -xp.inf
    return found


def integers(values: Iterable[int], like: Array) -> Array:
    """An array of int64, on the device of another."""
    xp = array_namespace(like)
    return xp.asarray(list(values), dtype=xp.int64, device=device(like))


def host(values: Array) -> Any:
    """As a NumPy array. Gradients, if somebody forgot to switch them off, stay behind."""
    return np.asarray(to_device(values.detach() if hasattr(values, "detach") else values, "cpu"))


def ints(values: Array) -> list[int]:
    return [int(value) for value in values.tolist()]


def floats(values: Array) -> list[float]:
    return [float(value) for value in values.tolist()]


def _constant(like: Array, value: float) -> Array:
    return array_namespace(like).asarray(value, dtype=like.dtype, device=device(like))
