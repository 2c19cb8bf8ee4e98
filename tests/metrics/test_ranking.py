"""Ranking: candidates, ties, duplicates and the measures, against values worked out by hand."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allears.errors import AllearsError
from allears.metrics.ranking import (
    draw_candidates,
    hits_at,
    mean_reciprocal_rank,
    ranks,
    recall_at,
    reciprocal_ranks,
    true_mask,
)


def some_texts(count):
    return [f"answer {number}" for number in range(count)]


# --- drawing candidates


@given(pool=st.integers(2, 60), seed=st.integers(0, 5), data=st.data())
def test_each_row_is_the_own_response_and_different_others(pool, seed, data):
    count = data.draw(st.integers(2, pool))
    chosen = draw_candidates(some_texts(pool), count, seed)
    assert chosen.shape == (pool, count)
    assert (chosen[:, 0] == np.arange(pool)).all()
    assert all(len(set(row)) == count for row in chosen.tolist())
    assert chosen.min() >= 0
    assert chosen.max() < pool


def test_the_same_seed_draws_the_same_and_another_seed_others():
    texts = some_texts(500)
    assert (draw_candidates(texts, 50, 3) == draw_candidates(texts, 50, 3)).all()
    assert (draw_candidates(texts, 50, 3) != draw_candidates(texts, 50, 4)).any()


def test_an_examples_candidates_do_not_depend_on_the_other_examples_asked_for():
    texts = some_texts(300)
    everything = draw_candidates(texts, 20, 7)
    some = draw_candidates(texts, 20, 7, examples=[5, 250, 17])
    assert (some == everything[[5, 250, 17]]).all()


def test_with_as_many_candidates_as_responses_everything_is_a_candidate():
    chosen = draw_candidates(some_texts(30), 30, 0)
    assert (np.sort(chosen, axis=1) == np.arange(30)).all()


@pytest.mark.parametrize("count", [4, 9])  # drawn again where it came twice; shuffled whole
def test_every_other_response_is_drawn_equally_often(count):
    pool = 12
    counts = np.zeros(pool)
    for seed in range(600):
        counts += np.bincount(
            draw_candidates(some_texts(pool), count, seed, examples=[2])[0, 1:], minlength=pool
        )
    expected = 600 * (count - 1) / (pool - 1)
    assert counts[2] == 0
    others = np.delete(counts, 2)
    assert np.abs(others - expected).max() < 5 * np.sqrt(expected)


def test_more_candidates_than_responses_is_one_sentence():
    with pytest.raises(
        AllearsError, match=r"^101 candidates were asked for, but the split has only 100"
    ) as error:
        draw_candidates(some_texts(100), 101, 0)
    assert "\n" not in str(error.value)


def test_a_single_candidate_is_refused():
    with pytest.raises(AllearsError, match="at least 2 candidates, got 1"):
        draw_candidates(some_texts(10), 1, 0)


def test_a_hundred_thousand_examples_are_drawn_in_seconds():
    start = time.perf_counter()
    chosen = draw_candidates(["text"] * 100_000, 100, 0)
    assert time.perf_counter() - start < 20  # about 1 s on two cores; a Python loop takes minutes
    assert chosen.shape == (100_000, 100)


# --- which candidates are true


def test_equal_texts_count_as_true_whatever_their_whitespace():
    texts = ["I am sorry .", "oh no", "I  am sorry .\n", "I am Sorry ."]
    chosen = np.array([[0, 1, 2, 3], [1, 0, 2, 3]])
    assert true_mask(texts, chosen).tolist() == [[True, False, True, False], [True, False, False, False]]


# --- ranks


def test_rank_is_one_more_than_the_number_of_better_candidates():
    scores = [[0.5, 0.9, 0.1], [3.0, 1.0, 2.0], [-1.0, 0.0, 1.0]]
    true = [[True, False, False]] * 3
    assert ranks(scores, true).tolist() == [2, 1, 3]


def test_a_tie_ranks_the_true_response_last():
    assert ranks([[1.0, 1.0, 1.0, 0.0]], [[True, False, False, False]]).tolist() == [3]
    assert ranks(np.zeros((1, 100)), np.arange(100)[None] == 0).tolist() == [100]


def test_of_several_true_candidates_the_best_counts_and_they_do_not_compete():
    true = [[True, False, True, False]]
    assert ranks([[0.1, 0.5, 0.9, 0.2]], true).tolist() == [1]
    assert ranks([[0.4, 0.5, 0.4, 0.2]], true).tolist() == [2]


def test_scores_of_minus_infinity_are_ties_too():
    assert ranks([[-np.inf, -np.inf]], [[True, False]]).tolist() == [2]


def test_scores_that_are_not_numbers_are_refused_and_give_no_free_points():
    with pytest.raises(AllearsError, match="not numbers"):
        ranks([[0.0, np.nan]], [[True, False]])


def test_an_example_without_a_true_candidate_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="true candidate"):
        ranks([[0.0, 1.0]], [[False, False]])


score_tables = st.integers(2, 12).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(-3, 3), min_size=width, max_size=width), min_size=1, max_size=8
    )
)


@given(score_tables, st.randoms(use_true_random=False))
def test_the_rank_does_not_depend_on_the_order_of_the_candidates(table, random):
    scores = np.array(table, float)
    true = np.zeros(scores.shape, bool)
    true[:, 0] = True
    order = list(range(scores.shape[1]))
    random.shuffle(order)
    assert (ranks(scores, true) == ranks(scores[:, order], true[:, order])).all()


@given(score_tables)
def test_the_rank_agrees_with_sorting_pessimistically(table):
    scores = np.array(table, float)
    true = np.zeros(scores.shape, bool)
    true[:, 0] = True
    for row, rank in zip(table, ranks(scores, true), strict=True):
        best_first = sorted(range(len(row)), key=lambda position: (-row[position], position == 0))
        assert best_first.index(0) + 1 == rank


@given(score_tables)
def test_a_higher_score_for_the_true_response_never_ranks_it_lower(table):
    scores = np.array(table, float)
    true = np.zeros(scores.shape, bool)
    true[:, 0] = True
    assert (ranks(scores + true, true) <= ranks(scores, true)).all()
    assert (ranks(2 * scores + 5, true) == ranks(scores, true)).all()


# --- measures


def test_recall_and_mrr_by_hand():
    found = [1, 2, 10, 11, 100]
    assert recall_at(found, 1) == pytest.approx(20)
    assert recall_at(found, 10) == pytest.approx(60)
    assert recall_at(found, 100) == pytest.approx(100)
    assert mean_reciprocal_rank(found) == pytest.approx(100 * (1 + 1 / 2 + 1 / 10 + 1 / 11 + 1 / 100) / 5)


def test_the_measures_are_the_means_of_their_values_per_example():
    assert hits_at([1, 2, 3], 2).tolist() == [100, 100, 0]
    assert reciprocal_ranks([1, 2, 4]).tolist() == [100, 50, 25]


def test_a_mean_over_nothing_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="no ranks"):
        recall_at([], 1)


def test_random_scores_recall_one_in_a_hundred():
    random = np.random.default_rng(0)
    chosen = draw_candidates(some_texts(20_000), 100, 0)
    found = ranks(random.random(chosen.shape), true_mask(some_texts(20_000), chosen))
    assert recall_at(found, 1) == pytest.approx(1, abs=0.3)
    assert recall_at(found, 50) == pytest.approx(50, abs=1.5)
