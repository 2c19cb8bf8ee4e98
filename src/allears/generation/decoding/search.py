"""Greedy and beam search, written once against `step(tokens, state) -> (logits, state)`.

The array namespace is taken from the logits (array-api-compat), so the same search serves torch and NumPy.
A state is a tuple of arrays whose first dimension is the batch, so that the search can follow its rows around.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device

Array = Any  # of any library that follows the array API standard
State = tuple[Array, ...]
Step = Callable[[Array, State], tuple[Array, State]]  # tokens [B], state -> logits [B, V], state


class Constraint(Protocol):
    """What may be written next."""

    def bias(self, examples: Sequence[int], written: Sequence[Sequence[int]]) -> npt.NDArray[np.float32]:
        """[B, V], added to the log-probabilities: 0 for free, -inf for never, between them for at a price.

        Row r goes on with `written[r]`, an answer to example `examples[r]`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Written:
    """Token ids without start and end, and the log-probability of all of them and the end."""

    tokens: tuple[int, ...]
    score: float


def greedy(
    step: Step, state: State, start: Array, *, end: int, limit: int, constraint: Constraint | None = None
) -> list[Written]:
    """The likeliest token again and again, for each row of `start` [B]; at most `limit` tokens."""
    xp = array_namespace(start)
    written: list[list[int]] = [[] for _ in range(start.shape[0])]
    scores = [0.0] * len(written)
    alive = list(
        range(len(written))
    )  # the examples that are not finished; finished ones are computed no more
    tokens = start
    for _ in range(limit):
        if not alive:
            break
        logits, state = step(tokens, state)
        likely = _log_probabilities(xp, logits, constraint, alive, [written[example] for example in alive])
        best = _ints(xp.argmax(likely, axis=-1))
        gains = _floats(xp.max(likely, axis=-1))
        kept = []
        for row, example in enumerate(alive):
            scores[example] += gains[row]
            if best[row] != end:
                written[example].append(best[row])
                kept.append(row)
        alive = [alive[row] for row in kept]
        state = _rows(xp, state, kept, start)
        tokens = _like(xp, [best[row] for row in kept], start)
    return [Written(tuple(ids), score) for ids, score in zip(written, scores, strict=True)]


def beam_search(
    step: Step,
    state: State,
    start: Array,
    *,
    end: int,
    limit: int,
    width: int = 4,
    length_penalty: float = 1.0,
    constraint: Constraint | None = None,
) -> list[Written]:
    """The best of `width` hypotheses for each row of `start` [B]; at most `limit` tokens.

    Hypotheses are compared by score / length ** length_penalty (the end counts as a token). An example is
    finished when `width` of its hypotheses have ended and none that goes on looks better than the best of them.
    """

    def normalised(score: float, length: int) -> float:
        return float(score / length**length_penalty)

    xp = array_namespace(start)
    # one hypothesis per example at first: `width` equal ones would only find each other
    beams: list[_Beam] = [_Beam(example, (), 0.0) for example in range(start.shape[0])]
    ended: list[list[Written]] = [[] for _ in beams]
    tokens = start
    for _ in range(limit):
        if not beams:
            break
        logits, state = step(tokens, state)
        likely = _log_probabilities(
            xp, logits, constraint, [beam.example for beam in beams], [beam.tokens for beam in beams]
        )
        # 2 * width, because up to width of them may end here
        gains, choices = _largest(xp, likely, min(2 * width, likely.shape[-1]))
        kept: list[tuple[int, _Beam]] = []
        for example in dict.fromkeys(beam.example for beam in beams):
            candidates = sorted(
                (
                    (beam.score + gain, row, token)
                    for row, beam in enumerate(beams)
                    if beam.example == example
                    for gain, token in zip(gains[row], choices[row], strict=True)
                    if gain > -np.inf
                ),
                key=lambda candidate: (-candidate[0], candidate[1], candidate[2]),
            )
            living: list[tuple[int, _Beam]] = []
            for score, row, token in candidates[: 2 * width]:
                if token == end:
                    ended[example].append(Written(beams[row].tokens, score))
                elif len(living) < width:
                    living.append((row, _Beam(example, (*beams[row].tokens, token), score)))
                if len(living) == width:
                    break
            hopes = [normalised(beam.score, len(beam.tokens)) for _, beam in living]
            best = [normalised(each.score, len(each.tokens) + 1) for each in ended[example]]
            if len(best) < width or max(hopes, default=-np.inf) > max(best):
                kept += living
        beams = [beam for _, beam in kept]
        state = _rows(xp, state, [row for row, _ in kept], start)
        tokens = _like(xp, [beam.tokens[-1] for beam in beams], start)
    for beam in beams:  # cut off by the limit: only where nothing came to an end by itself
        if not ended[beam.example]:
            ended[beam.example] = [Written(beam.tokens, beam.score)]

    return [
        max(
            found,
            key=lambda each: normalised(each.score, len(each.tokens) + 1),
            default=Written((), 0.0),
        )
        for found in ended
    ]


@dataclass(frozen=True, slots=True)
class _Beam:
    example: int
    tokens: tuple[int, ...]
    score: float


def _log_probabilities(
    xp: Any,
    logits: Array,
    constraint: Constraint | None,
    examples: Sequence[int],
    written: Sequence[Sequence[int]],
) -> Array:
    """log-softmax [B, V], then the constraint. Not the other way round: a hypothesis that the model would
    have liked to write differently shall not look likely because it was forced."""
    shifted = logits - xp.max(logits, axis=-1, keepdims=True)
    likely = shifted - xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))
    if constraint is None:
        return likely
    bias = constraint.bias(examples, written)
    return likely + xp.asarray(bias, dtype=likely.dtype, device=device(likely))


def _largest(xp: Any, values: Array, count: int) -> tuple[list[list[float]], list[list[int]]]:
    """The `count` largest of each row and where they stand: the standard has no top-k, and sorting a
    vocabulary for a handful of words is slower than looking `count` times."""
    columns = xp.arange(values.shape[-1], device=device(values))
    largest, places = [], []
    for _ in range(count):
        place = xp.argmax(values, axis=-1)
        largest.append(_floats(xp.max(values, axis=-1)))
        places.append(_ints(place))
        taken = columns[None, :] == place[:, None]
        values = xp.where(taken, xp.full_like(values, -xp.inf), values)
    return [list(row) for row in zip(*largest, strict=True)], [list(row) for row in zip(*places, strict=True)]


def _rows(xp: Any, state: State, rows: Sequence[int], like: Array) -> State:
    chosen = _like(xp, rows, like)
    return tuple(xp.take(part, chosen, axis=0) for part in state)


def _like(xp: Any, values: Sequence[int], like: Array) -> Array:
    return xp.asarray(list(values), dtype=xp.int64, device=device(like))


def _ints(values: Array) -> list[int]:
    return [int(value) for value in values.tolist()]


def _floats(values: Array) -> list[float]:
    return [float(value) for value in values.tolist()]
