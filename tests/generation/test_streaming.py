"""Tokens are handed out when they are chosen, and add up to what the searches return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from decoding_models import END, Chain

from allears.decoding import (
    collect,
    drawing,
    greedy,
    likeliest,
    no_repeated_ngrams,
    sample,
    stream,
    temperature,
    top_p,
)

SHARED: dict[str, Any] = {"end": END, "limit": 9, "processors": [no_repeated_ngrams(2)]}


@pytest.mark.parametrize("seed", range(6))
def test_a_stream_adds_up_to_greedy(seed: int) -> None:
    chain = Chain(seed)
    state, start = chain.begin(3)
    tokens = list(stream(chain.step, state, start, **SHARED))
    assert collect(tokens, 3) == greedy(chain.step, state, start, **SHARED)
    assert sum(each.ends for each in tokens) <= 3


@pytest.mark.parametrize("seed", range(6))
def test_a_stream_of_draws_adds_up_to_a_sample(seed: int) -> None:
    chain = Chain(seed)
    state, start = chain.begin(3)
    warps = [temperature(0.8), top_p(0.9)]
    tokens = stream(chain.step, state, start, choose=drawing(seed, 3, warps=warps), **SHARED)
    whole = sample(chain.step, state, start, seed=seed, warps=warps, **SHARED)
    assert collect(tokens, 3) == [row[0] for row in whole]


def test_a_token_comes_before_the_next_one_is_computed() -> None:
    chain = Chain(1)
    chain.table[..., END] = -9
    state, start = chain.begin(1)
    steps = []

    def counted(tokens: Any, state: Any) -> Any:
        steps.append(tokens.tolist())
        return chain.step(tokens, state)

    tokens = stream(counted, state, start, end=END, limit=5)
    assert not steps
    for number in range(1, 6):
        assert not next(tokens).ends
        assert len(steps) == number
    assert next(tokens, None) is None


def test_who_stops_listening_stops_the_writing() -> None:
    chain = Chain(1)
    chain.table[..., END] = -9
    state, start = chain.begin(1)
    computed = 0

    def counted(tokens: Any, state: Any) -> Any:
        nonlocal computed
        computed += 1
        return chain.step(tokens, state)

    for number, _ in enumerate(stream(counted, state, start, end=END, limit=1000)):
        if number == 2:
            break
    assert computed == 3


def test_rows_that_go_on_in_their_places_are_not_copied() -> None:
    chain = Chain(1)
    chain.table[..., END] = -9
    state, start = chain.begin(4)

    def reorder(state: Any, rows: Any) -> Any:
        raise AssertionError("nobody has ended")

    assert len(list(stream(chain.step, state, start, end=END, limit=5, reorder=reorder))) == 20


def test_ended_rows_are_computed_no_more() -> None:
    chain = Chain(2)
    starts = np.array([5, 1, 2, 3])
    sizes = []

    def counted(tokens: Any, state: Any) -> Any:
        sizes.append(len(tokens))
        assert len(state[0]) == len(tokens)
        return chain.step(tokens, state)

    found = collect(stream(counted, (starts[:, None],), starts, choose=likeliest, end=END, limit=20), 4)
    lengths = sorted(len(each.tokens) + 1 for each in found)
    assert sizes == [sum(length > place for length in lengths) for place in range(len(sizes))]
    assert sizes[-1] < 4


def test_a_state_of_ones_own_needs_its_own_reorder() -> None:
    chain = Chain(0)
    state, start = chain.begin(3)
    own = {"past": state}

    def step(tokens: Any, state: Any) -> Any:
        logits, past = chain.step(tokens, state["past"])
        return logits, {"past": past}

    def reorder(state: Any, rows: Any) -> Any:
        return {"past": tuple(part[list(rows)] for part in state["past"])}

    with pytest.raises(TypeError, match="give the search the `reorder` that belongs to its step"):
        sample(step, own, start, end=END, limit=9, seed=0, count=2)
    found = sample(step, own, start, end=END, limit=9, seed=0, count=2, reorder=reorder)
    assert found == sample(chain.step, state, start, end=END, limit=9, seed=0, count=2)
