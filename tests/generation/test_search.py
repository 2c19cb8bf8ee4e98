"""Greedy and beam search: the same answers on NumPy and torch, and the ones an exhaustive search would give."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
import torch
from decoding_models import END, Chain
from hypothesis import given, settings
from hypothesis import strategies as st

from allears.decoding import Written, at_least, beam_search, greedy, no_repeated_ngrams

LIMIT = 4


def same(first: list[Written], second: list[Written]) -> bool:
    return [each.tokens for each in first] == [each.tokens for each in second] and np.allclose(
        [each.score for each in first], [each.score for each in second]
    )


@pytest.mark.parametrize("seed", range(8))
def test_numpy_and_torch_agree(seed: int) -> None:
    chains = Chain(seed), Chain(seed, library=torch)
    searches: list[tuple[Any, dict[str, int]]] = [(greedy, {}), (beam_search, {"width": 3})]
    for search, options in searches:
        found = []
        for chain in chains:
            state, start = chain.begin(3)
            found.append(search(chain.step, state, start, end=END, limit=LIMIT, **options))
        assert same(*found)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_a_beam_of_one_is_greedy(seed: int) -> None:
    chain = Chain(seed)
    state, start = chain.begin(2)
    one = beam_search(chain.step, state, start, end=END, limit=LIMIT, width=1)
    assert same(one, greedy(chain.step, state, start, end=END, limit=LIMIT))


@given(seed=st.integers(0, 10_000), penalty=st.sampled_from([0.0, 0.7, 1.0]))
@settings(max_examples=25, deadline=None)
def test_a_wide_beam_finds_what_an_exhaustive_search_finds(seed: int, penalty: float) -> None:
    chain = Chain(seed, words=3)
    state, start = chain.begin(1)
    found = beam_search(
        chain.step, state, start, end=END, limit=4, width=200, length_penalty=penalty
    )[0]  # fmt: skip
    every = [tokens for length in range(4) for tokens in product((1, 2), repeat=length)]
    best = max(chain.score(tokens) / (len(tokens) + 1) ** penalty for tokens in every)
    assert chain.score(found.tokens) == pytest.approx(found.score)
    assert found.score / (len(found.tokens) + 1) ** penalty == pytest.approx(best)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_a_wide_beam_finds_the_best_of_what_is_allowed(seed: int) -> None:
    chain = Chain(seed, words=4)
    state, start = chain.begin(1)
    limits = [no_repeated_ngrams(1), at_least(2, END)]
    found = beam_search(chain.step, state, start, end=END, limit=5, width=200, processors=limits)[0]
    every = [tokens for length in (2, 3) for tokens in permutations((1, 2, 3), length)]
    assert found.tokens == max(every, key=lambda tokens: chain.score(tokens) / (len(tokens) + 1))


def test_a_beam_leaves_the_garden_path() -> None:
    """The first word of the best sentence is not the best first word."""
    table = np.full((4, 4, 3), -9.0)
    table[3, 3] = np.log([1e-9, 0.6, 0.4])  # 1 looks better ...
    table[3, 1] = np.log([0.34, 0.33, 0.33])  # ... but nothing certain follows it
    table[3, 2] = np.log([0.98, 0.01, 0.01])
    chain = Chain(0, words=3)
    chain.table = table
    state, start = chain.begin(1)
    assert greedy(chain.step, state, start, end=END, limit=1)[0].tokens == (1,)
    assert beam_search(chain.step, state, start, end=END, limit=2, width=2)[0].tokens == (2,)


@pytest.mark.parametrize("search", [greedy, beam_search])
def test_batch_mates_change_nothing(search: Any) -> None:
    chain = Chain(3)
    tokens = np.array([5, 1, 2, 3])

    def run(chosen: np.ndarray) -> list[Written]:
        return search(chain.step, (chosen[:, None],), chosen, end=END, limit=6)

    together = run(tokens)
    assert same(together, [run(tokens[row : row + 1])[0] for row in range(4)])
    assert len({each.tokens for each in together}) > 1


class Never:
    """A constraint: each example has a word it never says, and the end costs something."""

    def bias(self, examples: Any, written: Any) -> np.ndarray:
        found = np.zeros((len(examples), 5), np.float32)
        found[np.arange(len(examples)), [1 + example for example in examples]] = -np.inf
        found[:, END] = -0.5
        return found


@pytest.mark.parametrize("search", [greedy, beam_search])
@pytest.mark.parametrize("seed", range(5))
def test_what_a_constraint_forbids_is_never_written(search: Any, seed: int) -> None:
    chain = Chain(seed)
    state, start = chain.begin(4)
    found = search(chain.step, state, start, end=END, limit=8, constraint=Never())
    for example, written in enumerate(found):
        assert 1 + example not in written.tokens
        assert np.isfinite(written.score)


@pytest.mark.parametrize("search", [greedy, beam_search])
def test_a_sentence_without_end_is_cut_at_the_limit(search: Any) -> None:
    chain = Chain(0)
    chain.table[..., END] = -1e9
    state, start = chain.begin(2)
    assert [len(each.tokens) for each in search(chain.step, state, start, end=END, limit=7)] == [7, 7]


@pytest.mark.parametrize("search", [greedy, beam_search])
def test_nothing_to_write_for_is_no_error(search: Any) -> None:
    chain = Chain(0)
    state, start = chain.begin(0)
    assert search(chain.step, state, start, end=END, limit=7) == []
