"""Intervals and tests, against SciPy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from allears.metrics.significance import MANY_VALUES, bootstrap_interval, mcnemar, paired_bootstrap, sign_test


@pytest.mark.parametrize("kind", ["right or wrong", "all different"])
def test_the_interval_agrees_with_scipys_percentile_bootstrap(kind):
    random = np.random.default_rng(1)
    values = random.random(MANY_VALUES * 2)
    if kind == "right or wrong":
        values = 100.0 * (values < 0.6)
    ours = bootstrap_interval(values, samples=4000, seed=3)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=4000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert ours.value == pytest.approx(values.mean())
    assert ours.low == pytest.approx(theirs.low, abs=0.08 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.08 * width)


def test_the_interval_holds_the_truth_about_95_times_in_100():
    random = np.random.default_rng(0)
    held = 0
    for trial in range(300):
        interval = bootstrap_interval(random.random(200) < 0.3, samples=500, seed=trial)
        held += interval.low <= 0.3 <= interval.high
    assert 0.90 < held / 300 < 0.985


def test_a_higher_confidence_gives_a_wider_interval():
    values = np.random.default_rng(0).random(100)
    narrow, wide = (bootstrap_interval(values, confidence=confidence) for confidence in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=30), st.integers(0, 3))
def test_an_interval_stays_within_the_values_and_repeats_with_its_seed(values, seed):
    interval = bootstrap_interval(values, samples=50, seed=seed)
    assert min(values) - 1e-9 <= interval.low <= interval.high <= max(values) + 1e-9
    assert interval == bootstrap_interval(values, samples=50, seed=seed)


def test_equal_models_differ_by_nothing():
    scores = np.random.default_rng(0).random(50)
    difference = paired_bootstrap(scores, scores)
    assert (difference.value, difference.low, difference.high, difference.p_value) == (0, 0, 0, 1)


def test_the_paired_p_value_is_close_to_the_paired_t_test_for_many_examples():
    random = np.random.default_rng(4)
    first = random.normal(0.1, 1, 600)
    second = random.normal(0.0, 1, 600)
    ours = paired_bootstrap(first, second, samples=20_000)
    assert ours.value == pytest.approx((first - second).mean())
    assert ours.p_value == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=0.02)


def test_a_clear_difference_is_significant_and_its_sign_is_first_minus_second():
    random = np.random.default_rng(0)
    difference = paired_bootstrap(random.random(500) < 0.5, random.random(500) < 0.8, samples=2000)
    assert difference.value < difference.high < 0
    assert difference.p_value == pytest.approx(1 / 2001)


def test_pairing_finds_what_two_separate_intervals_do_not():
    random = np.random.default_rng(0)
    first = 100 * random.random(400)
    second = first - random.random(400)
    one, other = bootstrap_interval(first), bootstrap_interval(second)
    assert one.low < other.high  # the intervals overlap
    assert paired_bootstrap(first, second).p_value < 0.001


@given(st.integers(0, 300), st.integers(0, 300))
def test_the_sign_test_agrees_with_scipys_exact_binomial_test(wins, losses):
    first = np.array([1] * wins + [0] * losses + [5, 5])
    second = np.array([0] * wins + [1] * losses + [5, 5])
    ours = sign_test(first, second)
    assert (ours.wins, ours.losses) == (wins, losses)
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert ours.p_value == pytest.approx(expected, rel=1e-9)


def test_the_sign_test_by_hand():
    # 5 wins, 1 loss of 6: 2 (C(6,0) + C(6,1)) / 2^6
    assert sign_test([1, 1, 1, 1, 1, 0, 3], [0, 0, 0, 0, 0, 1, 3]).p_value == pytest.approx(14 / 64)


def test_the_sign_test_copes_with_very_many_examples():
    first = np.arange(200_000) < 100_900
    assert sign_test(first, ~first).p_value == pytest.approx(
        stats.binomtest(100_900, 200_000).pvalue, rel=1e-6
    )


def test_mcnemar_looks_only_at_examples_that_one_model_alone_got_right():
    first = [True] * 40 + [True] * 12 + [False] * 3 + [False] * 20
    second = [True] * 40 + [False] * 12 + [True] * 3 + [False] * 20
    test = mcnemar(first, second)
    assert (test.wins, test.losses) == (12, 3)
    assert test.p_value == pytest.approx(stats.binomtest(3, 15).pvalue)
    assert mcnemar(second, first).p_value == test.p_value


@pytest.mark.parametrize("test", [paired_bootstrap, sign_test])
def test_models_on_different_examples_cannot_be_paired(test):
    with pytest.raises(ValueError, match="same examples: got 3 and 2"):
        test([1, 2, 3], [1, 2])


def test_nothing_has_no_interval():
    with pytest.raises(ValueError, match="row of values"):
        bootstrap_interval([])
