"""Greedy decoding: the likeliest token again and again."""

from __future__ import annotations

from collections.abc import Sequence

from allears.decoding.arrays import take_rows
from allears.decoding.contract import Array, Constraint, Processor, Reorder, State, Step, Written
from allears.decoding.streaming import collect, stream


def greedy(
    step: Step,
    state: State,
    start: Array,
    *,
    end: int,
    limit: int,
    processors: Sequence[Processor] = (),
    constraint: Constraint | None = None,
    reorder: Reorder = take_rows,
) -> list[Written]:
    """The likeliest token again and again, for each row of `start` [B]; at most `limit` tokens."""
    tokens = stream(
        step,
        state,
        start,
        end=end,
        limit=limit,
        processors=processors,
        constraint=constraint,
        reorder=reorder,
    )
    return collect(tokens, start.shape[0])
