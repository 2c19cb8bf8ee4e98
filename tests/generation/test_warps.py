"""Temperature, top-k and top-p: by hand, and the same sets that Hugging Face keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.generation.logits_process import TopKLogitsWarper, TopPLogitsWarper

from allears.decoding import temperature, top_k, top_p
from allears.decoding.arrays import top_values
from allears.errors import AllearsError

SEEDS = st.integers(0, 10_000)


def scores(seed: int, words: int, spread: float = 2.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(3, words)).astype(np.float32) * spread


def on_both(warp: Any, values: np.ndarray) -> np.ndarray:
    first, second = warp(values), warp(torch.from_numpy(values))
    np.testing.assert_array_equal(first, second.numpy())
    return first


@given(SEEDS, st.integers(1, 12))
@settings(deadline=None)
def test_top_k_keeps_what_hugging_face_keeps(seed: int, count: int) -> None:
    values = scores(seed, 9)
    theirs = TopKLogitsWarper(count)(None, torch.from_numpy(values))
    np.testing.assert_array_equal(on_both(top_k(count), values), theirs.numpy())


# wide: more words than are looked at first, and so flat that all of them are needed
@given(SEEDS, st.floats(0.01, 0.95), st.sampled_from([(9, 2.0), (700, 0.1), (700, 4.0)]))
@settings(deadline=None)
def test_top_p_keeps_what_hugging_face_keeps(seed: int, share: float, shape: tuple[int, float]) -> None:
    values = scores(seed, *shape)
    ours = np.isfinite(on_both(top_p(share), values))
    theirs = np.isfinite(TopPLogitsWarper(share)(None, torch.from_numpy(values)).numpy())
    # 700 flat words in float32: their sum of shares may cross the border a word sooner or later than ours
    assert np.abs(ours.sum(axis=1) - theirs.sum(axis=1)).max() <= (1 if shape[0] > 9 else 0)
    assert np.all(
        values.min(axis=1, where=ours, initial=9e9) >= values.max(axis=1, where=~ours, initial=-9e9)
    )


def test_top_p_by_hand() -> None:
    values = np.log(np.array([[0.5, 0.3, 0.15, 0.05]], np.float32))
    for share, kept in ((0.4, 1), (0.55, 2), (0.85, 3), (0.99, 4), (1.0, 4)):
        assert np.isfinite(on_both(top_p(share), values)).sum() == kept


def test_a_temperature_divides() -> None:
    assert on_both(temperature(0.5), np.array([[1.0, -2.0]], np.float32)).tolist() == [[2.0, -4.0]]


@pytest.mark.parametrize("warp", [top_k(2), top_p(0.9), temperature(0.5)])
def test_a_row_where_everything_is_barred_stays_one(warp: Any) -> None:
    with np.errstate(all="raise"):
        found = on_both(warp, np.array([[-np.inf, -np.inf, -np.inf], [1.0, 2.0, 3.0]], np.float32))
    assert np.isneginf(found[0]).all()
    assert np.isfinite(found[1]).any()


@pytest.mark.parametrize(
    ("maker", "value"),
    [(temperature, 0), (temperature, -1), (top_k, 0), (top_p, 0), (top_p, 1.5), (top_p, float("nan"))],
)
def test_impossible_values_are_refused(maker: Any, value: float) -> None:
    with pytest.raises(AllearsError, match=str(value)):
        maker(value)


@given(SEEDS, st.integers(1, 300), st.sampled_from([0.0, 0.5, 0.999]), st.booleans())
@settings(deadline=None, max_examples=60)
def test_the_largest_of_a_large_vocabulary_are_found_whatever_is_barred_or_equal(
    seed: int, count: int, barred: float, rounded: bool
) -> None:
    values = scores(seed, 5003)
    if rounded:
        values = np.round(values)  # many are equal
    values[np.random.default_rng(seed + 1).random(values.shape) < barred] = -np.inf
    expected = -np.sort(-values, axis=-1)[:, :count]
    np.testing.assert_array_equal(top_values(values, count), expected)
    np.testing.assert_array_equal(top_values(torch.from_numpy(values), count).numpy(), expected)
