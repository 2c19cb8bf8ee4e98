"""Drawing tokens by chance, the same ones every time for the same seed, on NumPy and torch alike.

The chance comes from NumPy: one number between 0 and 1 for each token. Every row has a stream of its own, so that its
mates in the batch, and how long they go on, change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from allears.decoding.arrays import free_places, integers, take_rows
from allears.decoding.contract import Array, Constraint, Processor, Reorder, State, Step, Warp, Written
from allears.decoding.streaming import Choose, collect, stream

# One number for a whole batch (its rows then draw by their places), or one for each row (which then draws the same
# wherever it stands).
Seed = int | Sequence[int]


def drawing(seed: Seed, rows: int, *, warps: Sequence[Warp] = (), copies: int = 1) -> Choose:
    """For `stream`: draws from the scores of so many rows, each of which stands there `copies` times in a row."""
    if not isinstance(seed, int) and len(seed) != rows:
        raise ValueError(f"{rows} rows need {rows} seeds, or one for all of them; got {len(seed)}")
    own = [(seed, row) for row in range(rows)] if isinstance(seed, int) else [(each,) for each in seed]
    streams = [np.random.default_rng([*key, copy]) for key in own for copy in range(copies)]

    def choose(scores: Array, alive: Sequence[int]) -> Array:
        for warp in warps:
            scores = warp(scores)
        return _draw(scores, [streams[row].random() for row in alive])

    return choose


def sample(
    step: Step,
    state: State,
    start: Array,
    *,
    end: int,
    limit: int,
    seed: Seed,
    count: int = 1,
    warps: Sequence[Warp] = (),
    processors: Sequence[Processor] = (),
    constraint: Constraint | None = None,
    reorder: Reorder = take_rows,
) -> list[list[Written]]:
    """`count` texts for each row of `start` [B], drawn token by token; at most `limit` tokens each.

    Processors come first, then warps, in their order: [temperature(0.5), top_k(10), top_p(0.9)]. Scores are the
    model's, not those of the narrowed choice, so that several texts can be compared.
    """
    rows = start.shape[0]
    if count > 1:
        places = [row for row in range(rows) for _ in range(count)]
        (start,), state = take_rows((start,), places), reorder(state, places)
    tokens = stream(
        step,
        state,
        start,
        end=end,
        limit=limit,
        choose=drawing(seed, rows, warps=warps, copies=count),
        processors=processors,
        constraint=constraint,
        reorder=reorder,
    )
    found = collect(tokens, rows * count)
    return [found[row * count : (row + 1) * count] for row in range(rows)]


def _draw(scores: Array, chances: Sequence[float]) -> Array:
    """Where each row's chance falls among its tokens' probabilities, laid end to end; in float64, whose rounding no
    draw will ever notice."""
    drawn = []
    for (places, free), chance in zip(free_places(scores), chances, strict=True):
        if not len(places):  # everything is barred; whatever is drawn, `stream` ends the row
            drawn.append(0)
            continue
        heights = np.cumsum(np.exp(free.astype(np.float64) - free.max()))
        drawn.append(int(places[np.searchsorted(heights, chance * heights[-1], side="right")]))
    return integers(drawn, scores)
