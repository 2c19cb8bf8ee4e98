"""What processors change, worked out by hand and beside Hugging Face's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from decoding_models import END, Chain
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.generation.logits_process import (
    NoRepeatNGramLogitsProcessor,
    RepetitionPenaltyLogitsProcessor,
)

from allears.decoding import (
    at_least,
    beam_search,
    begin_with,
    diverse_beam_search,
    greedy,
    never,
    no_repeated_ngrams,
    repetition_penalty,
    sample,
)
from allears.errors import AllearsError

WORDS = 6
WRITTEN = st.integers(0, 7).flatmap(
    lambda length: st.lists(
        st.lists(st.integers(0, WORDS - 1), min_size=length, max_size=length), min_size=1, max_size=4
    )
)


def logits_for(written: list[list[int]]) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(len(written), WORDS)).astype(np.float32) * 3


def on_both(process: Any, logits: np.ndarray, written: list[list[int]]) -> np.ndarray:
    """The processor's answer; the same on both libraries."""
    first, second = process(logits, written), process(torch.from_numpy(logits), written)
    assert isinstance(first, np.ndarray)
    assert isinstance(second, torch.Tensor)
    np.testing.assert_array_equal(first, second.numpy())
    return first


@given(WRITTEN, st.floats(0.5, 3))
@settings(deadline=None)
def test_the_repetition_penalty_is_hugging_faces(written: list[list[int]], penalty: float) -> None:
    logits = logits_for(written)
    theirs = RepetitionPenaltyLogitsProcessor(penalty)(torch.tensor(written).long(), torch.from_numpy(logits))
    np.testing.assert_allclose(
        on_both(repetition_penalty(penalty), logits, written), theirs.numpy(), rtol=1e-6
    )


@given(WRITTEN, st.integers(1, 4))
@settings(deadline=None)
def test_ngram_blocking_is_hugging_faces(written: list[list[int]], size: int) -> None:
    logits = logits_for(written)
    theirs = NoRepeatNGramLogitsProcessor(size)(torch.tensor(written).long(), torch.from_numpy(logits))
    np.testing.assert_array_equal(on_both(no_repeated_ngrams(size), logits, written), theirs.numpy())


def test_the_repetition_penalty_by_hand() -> None:
    found = on_both(repetition_penalty(2.0), np.array([[4.0, -4.0, 1.0]], np.float32), [[0, 1, 1]])
    assert found.tolist() == [[2.0, -8.0, 1.0]]


def test_ngram_blocking_by_hand() -> None:
    logits = np.zeros((1, 4), np.float32)
    barred = np.isinf(on_both(no_repeated_ngrams(2), logits, [[1, 2, 1, 3, 1]]))
    assert barred.tolist() == [[False, False, True, True]]  # "1 2" and "1 3" are there already


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_no_search_writes_an_ngram_twice(seed: int, size: int) -> None:
    chain = Chain(seed)
    chain.table[..., END] = -30  # long texts
    state, start = chain.begin(2)
    shared: dict[str, Any] = {"end": END, "limit": 30, "processors": [no_repeated_ngrams(size)]}
    found = [
        *greedy(chain.step, state, start, **shared),
        *beam_search(chain.step, state, start, **shared),
        *(each for row in diverse_beam_search(chain.step, state, start, **shared) for each in row),
        *(each for row in sample(chain.step, state, start, seed=1, count=3, **shared) for each in row),
    ]
    assert all(_repeats(each.tokens, size) for each in greedy(chain.step, state, start, end=END, limit=30))
    assert not any(_repeats(each.tokens, size) for each in found)


def _repeats(tokens: tuple[int, ...], size: int) -> bool:
    grams = [tokens[place : place + size] for place in range(len(tokens) - size + 1)]
    return len(set(grams)) < len(grams)


@pytest.mark.parametrize("length", [1, 4])
def test_nothing_ends_before_its_shortest_length(length: int) -> None:
    chain = Chain(0)
    chain.table[..., END] += 60  # it would like to end at once
    state, start = chain.begin(1)
    shared: dict[str, Any] = {"end": END, "limit": 9}
    assert greedy(chain.step, state, start, **shared)[0].tokens == ()
    limits = [at_least(length, END)]
    assert len(greedy(chain.step, state, start, processors=limits, **shared)[0].tokens) == length
    # a beam may find it worth its while to go on; never to stop earlier
    assert len(beam_search(chain.step, state, start, processors=limits, **shared)[0].tokens) >= length


def test_what_is_never_to_be_written_is_not() -> None:
    found = on_both(never([1, 3]), np.zeros((2, 4), np.float32), [[], [1]])
    assert np.isinf(found).tolist() == [[False, True, False, True]] * 2


def test_a_text_begins_with_one_of_some_tokens_and_never_has_them_again() -> None:
    found = on_both(begin_with([2, 3]), np.zeros((2, 4), np.float32), [[], [2]])
    assert np.isinf(found).tolist() == [[True, True, False, False], [False, False, True, True]]


@pytest.mark.parametrize("seed", range(10))
def test_being_forced_makes_nothing_look_likely(seed: int) -> None:
    """A score is the model's own probability of the text, whatever was barred on the way."""
    chain = Chain(seed)
    state, start = chain.begin(1)
    limits = [no_repeated_ngrams(1), at_least(2, END)]
    found = greedy(chain.step, state, start, end=END, limit=20, processors=limits)[0]
    assert found.score == pytest.approx(chain.score(found.tokens))
    assert beam_search(chain.step, state, start, end=END, limit=20, width=1, processors=limits)[0] == found


def test_where_everything_is_barred_a_text_ends() -> None:
    chain = Chain(0)
    state, start = chain.begin(2)
    shared: dict[str, Any] = {"end": END, "limit": 9, "processors": [no_repeated_ngrams(1), never([END])]}
    for found in (
        greedy(chain.step, state, start, **shared),
        beam_search(chain.step, state, start, **shared),
        [row[0] for row in sample(chain.step, state, start, seed=0, **shared)],
    ):
        assert [sorted(each.tokens) for each in found] == [[1, 2, 3, 4]] * 2
        assert all(np.isfinite(each.score) for each in found)


@pytest.mark.parametrize(
    ("maker", "value"), [(repetition_penalty, 0), (repetition_penalty, float("nan")), (no_repeated_ngrams, 0)]
)
def test_impossible_values_are_refused(maker: Any, value: float) -> None:
    with pytest.raises(AllearsError, match=str(value)):
        maker(value)
