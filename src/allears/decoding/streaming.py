"""Writing token by token: each is handed out as soon as it is chosen. `greedy` and `sample` are this, collected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from array_api_compat import array_namespace, device

from allears.decoding.arrays import floats, following, integers, ints, scored, take_rows
from allears.decoding.contract import Array, Constraint, Processor, Reorder, State, Step, Written

# Scores [B, V] and the rows (of `start`) that they belong to, in; a token for each, out.
Choose = Callable[[Array, Sequence[int]], Array]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A token for one row of the batch, and its score. Where `ends`, it is the end, and no part of the text."""

    row: int
    token: int
    score: float
    ends: bool


def likeliest(scores: Array, rows: Sequence[int]) -> Array:
    return array_namespace(scores).argmax(scores, axis=-1)


def stream(
    step: Step,
    state: State,
    start: Array,
    *,
    end: int,
    limit: int,
    choose: Choose = likeliest,
    processors: Sequence[Processor] = (),
    constraint: Constraint | None = None,
    reorder: Reorder = take_rows,
) -> Iterator[Chosen]:
    """The tokens of all rows of `start` [B], as they are chosen; at most `limit` for each row.

    A row that has ended is computed no more. A row in which everything is barred ends there.
    """
    xp = array_namespace(start)
    written: list[list[int]] = [[] for _ in range(start.shape[0])]
    alive = list(range(len(written)))
    tokens = start
    for _ in range(limit):
        if not alive:
            break
        logits, state = step(tokens, state)
        scores = scored(logits, alive, [written[row] for row in alive], processors, constraint)
        picked = choose(scores, alive)
        gains = floats(scores[xp.arange(len(alive), device=device(scores)), picked])
        kept = []
        for place, (row, token, gain) in enumerate(zip(alive, ints(picked), gains, strict=True)):
            if gain == -math.inf:
                yield Chosen(row, end, 0.0, ends=True)
            elif token == end:
                yield Chosen(row, end, gain, ends=True)
            else:
                yield Chosen(row, token, gain, ends=False)
                written[row].append(token)
                kept.append(place)
        state = following(state, kept, len(alive), reorder)
        alive = [alive[place] for place in kept]
        tokens = integers((written[row][-1] for row in alive), start)


def collect(chosen: Iterable[Chosen], rows: int) -> list[Written]:
    """What was written in each of so many rows."""
    tokens: list[list[int]] = [[] for _ in range(rows)]
    scores = [0.0] * rows
    for each in chosen:
        scores[each.row] += each.score
        if not each.ends:
            tokens[each.row].append(each.token)
    return [Written(tuple(ids), score) for ids, score in zip(tokens, scores, strict=True)]
