"""The statistics equal SciPy's, statsmodels', and published or hand-computed values."""

from __future__ import annotations

from math import isnan, log, sqrt

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as their_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestIndPower, TTestPower

from allears.metrics.significance import sign_test
from allears.study.analysis.agreement import fleiss_kappa, in_words, krippendorff_alpha
from allears.study.analysis.bradley_terry import bradley_terry
from allears.study.analysis.means import compare, holm, mean_with_sem, paired_t_test, welch_t_test
from allears.study.analysis.power import (
    decisions_needed,
    group_power,
    groups_needed,
    paired_power,
    pairs_needed,
    sign_power,
)

RATINGS = st.lists(st.integers(1, 5), min_size=3, max_size=30)


def test_the_sem_is_the_sample_deviation_over_the_root_of_n():
    mean = mean_with_sem([1, 2, 3, 4, 5])
    assert mean.value == 3
    assert mean.sem == pytest.approx(sqrt(2.5) / sqrt(5))
    assert isnan(mean_with_sem([4]).sem)
    assert mean_with_sem([]).count == 0


@given(RATINGS)
def test_the_sem_is_scipys(values: list[int]):
    assert mean_with_sem(values).sem == pytest.approx(float(stats.sem(values)))


def test_one_tailed_t_tests_are_scipys():
    random = np.random.default_rng(0)
    one, other = random.normal(3.6, 1, 40), random.normal(3.2, 1.4, 40)
    paired = paired_t_test(one, other)
    expected = stats.ttest_rel(one, other, alternative="greater")
    assert (paired.t, paired.p, paired.freedom) == pytest.approx((expected.statistic, expected.pvalue, 39))
    welch = welch_t_test(one, other[:25])
    expected = stats.ttest_ind(one, other[:25], equal_var=False, alternative="greater")
    assert (welch.t, welch.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert welch_t_test(other[:25], one).p == pytest.approx(1 - welch.p)


def test_a_paired_t_test_by_hand():
    # differences 1, 2, 3: mean 2, deviation 1, t = 2 / (1 / sqrt 3)
    found = paired_t_test([2, 4, 6], [1, 2, 3])
    assert found.t == pytest.approx(2 * sqrt(3))
    assert found.effect == pytest.approx(2)


def test_where_nothing_differs_there_is_no_test():
    assert paired_t_test([3, 3], [3, 3]).p == 1.0
    assert isnan(welch_t_test([3, 3], [3, 3]).p)
    assert isnan(welch_t_test([3], [2]).p)


def test_the_same_items_are_paired_and_others_are_not():
    assert compare({"a": 1, "b": 2}, {"b": 1, "a": 1}).paired
    assert not compare({"a": 1, "b": 2}, {"c": 1, "a": 3}).paired


@pytest.mark.parametrize("count", [1, 2, 12])
def test_holms_correction_is_that_of_statsmodels(count: int):
    values = list(np.random.default_rng(count).uniform(size=count) ** 2)
    assert holm(values) == pytest.approx(list(multipletests(values, method="holm")[1]))


def test_holms_correction_by_hand_leaves_out_what_was_not_tested():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    found = holm([0.01, float("nan"), 0.03])
    assert isnan(found[1])
    assert (found[0], found[2]) == pytest.approx((0.02, 0.03))


def test_fleiss_kappa_of_the_textbook_example_is_0_21():
    # ten subjects, fourteen raters, five categories (the example that textbooks and Wikipedia work through)
    table = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    ratings = [[label for label, times in enumerate(row) for _ in range(times)] for row in table]
    assert fleiss_kappa(ratings) == pytest.approx(0.210, abs=5e-4)
    assert fleiss_kappa(ratings) == pytest.approx(their_kappa(np.array(table)))


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=3, max_size=3), min_size=2, max_size=20))
def test_fleiss_kappa_is_that_of_statsmodels(ratings: list[list[str]]):
    mine = fleiss_kappa(ratings)
    if isnan(mine):
        assert len({value for row in ratings for value in row}) == 1
        return
    assert mine == pytest.approx(their_kappa(aggregate_raters(np.array(ratings))[0]))


def test_kappa_wants_the_same_number_of_raters_everywhere():
    with pytest.raises(ValueError, match="same number"):
        fleiss_kappa([["a", "b"], ["a", "b", "a"]])


@pytest.mark.parametrize(("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorffs_own_example(level: str, expected: float):
    # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): four observers, twelve units, gaps
    gap = None
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3],
        [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
    ]
    units = [[row[place] for row in observers if row[place] is not gap] for place in range(12)]
    assert krippendorff_alpha(units, level) == pytest.approx(expected, abs=5e-4)


def test_alpha_of_perfect_agreement_is_one_and_of_no_choice_is_not_defined():
    assert krippendorff_alpha([["a", "a"], ["b", "b"]]) == 1
    assert isnan(krippendorff_alpha([["a", "a"], ["a", "a"]]))


def test_the_papers_words_for_agreement():
    # PEC: 0.725 and 0.617 are substantial; PAL: 0.458 is moderate
    assert [in_words(kappa) for kappa in (0.725, 0.617, 0.458, 0.9, -0.1)] == [
        "substantial",
        "substantial",
        "moderate",
        "almost perfect",
        "poor",
    ]


@pytest.mark.parametrize(("wins", "losses"), [(34, 13), (27, 17), (5, 5), (1, 0), (42, 25)])
def test_the_sign_test_is_scipys_binomial_test(wins: int, losses: int):
    found = sign_test([1] * wins + [0] * losses + [1], [0] * wins + [1] * losses + [1])
    assert found.p_value == pytest.approx(stats.binomtest(wins, wins + losses).pvalue)


@pytest.mark.parametrize("effect", [0.2, 0.35, 0.8])
def test_how_many_are_needed_is_what_statsmodels_says(effect: float):
    options = {"effect_size": effect, "alpha": 0.05, "power": 0.8, "alternative": "larger"}
    assert pairs_needed(effect) == np.ceil(TTestPower().solve_power(**options))
    assert groups_needed(effect) == np.ceil(TTestIndPower().solve_power(**options))
    assert paired_power(effect, 50) == pytest.approx(
        TTestPower().power(effect, 50, 0.05, alternative="larger"), abs=1e-6
    )
    assert group_power(effect, 50) == pytest.approx(
        TTestIndPower().power(effect, 50, 0.05, alternative="larger"), abs=1e-6
    )


def test_the_power_of_a_sign_test_is_that_of_counting_every_outcome():
    for share, decisions in ((0.6, 30), (0.7, 25), (0.9, 8)):
        expected = sum(
            stats.binom.pmf(wins, decisions, share)
            for wins in range(decisions + 1)
            if stats.binomtest(wins, decisions).pvalue < 0.05
        )
        assert sign_power(share, decisions) == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.58, 0.7, 0.95, 0.3])
def test_the_decisions_needed_are_the_fewest_with_that_power(share: float):
    found = decisions_needed(share)
    assert found is not None
    assert sign_power(share, found) >= 0.8
    assert all(sign_power(share, fewer) < 0.8 for fewer in range(1, found))


def test_without_an_effect_no_number_is_enough():
    assert decisions_needed(0.5) is None
    assert pairs_needed(0.0) is None
    assert groups_needed(float("nan")) is None


def results(table: dict[tuple[str, str], tuple[int, int]]) -> list[tuple[str, str, str]]:
    return [
        (one, other, better)
        for (one, other), (wins, losses) in table.items()
        for better in [one] * wins + [other] * losses
    ]


def test_bradley_terry_of_two_is_the_logarithm_of_the_odds():
    ranking = bradley_terry(results({("a", "b"): (30, 10)}))
    assert ranking is not None
    assert [each.system for each in ranking.strengths] == ["a", "b"]
    assert ranking.strengths[0].value - ranking.strengths[1].value == pytest.approx(log(3))
    # the error of the log odds is sqrt(1/30 + 1/10); each strength has half of the difference
    assert ranking.strengths[0].high - ranking.strengths[0].value == pytest.approx(
        1.959964 * sqrt(1 / 30 + 1 / 10) / 2, rel=1e-4
    )


def test_bradley_terry_is_the_logistic_regression_of_statsmodels():
    rows = results(
        {
            ("a", "b"): (14, 6),
            ("a", "c"): (15, 9),
            ("b", "c"): (8, 11),
            ("c", "d"): (13, 4),
            ("a", "d"): (9, 3),
        }
    )
    ranking = bradley_terry(rows)
    assert ranking is not None
    names = ["a", "b", "c", "d"]
    design = np.array(
        [[(name == one) - (name == other) for name in names[1:]] for one, other, _ in rows], float
    )
    fitted = sm.Logit(np.array([float(better == one) for one, _, better in rows]), design).fit(disp=0)
    theirs = np.array([0.0, *fitted.params])
    mine = {each.system: each.value for each in ranking.strengths}
    assert [mine[name] for name in names] == pytest.approx(list(theirs - theirs.mean()), abs=1e-6)
    assert sum(mine.values()) == pytest.approx(0)


def test_a_tie_is_half_a_win_for_both():
    tied = bradley_terry([("a", "b", "tie")] * 4 + [("a", "b", "a")] * 2)
    counted = bradley_terry(results({("a", "b"): (4, 2)}))
    assert tied is not None
    assert counted is not None
    assert tied.strengths[0].value == pytest.approx(counted.strengths[0].value)


def test_who_wins_everything_is_ranked_with_a_note_and_strangers_are_not():
    ranking = bradley_terry(results({("a", "b"): (5, 0), ("b", "c"): (5, 0)}))
    assert ranking is not None
    assert ranking.smoothed
    assert [each.system for each in ranking.strengths] == ["a", "b", "c"]
    assert bradley_terry(results({("a", "b"): (3, 2), ("c", "d"): (3, 2)})) is None
