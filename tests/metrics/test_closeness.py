"""Similarity to a persona, sentiment gain and strategies, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from allears.metrics.closeness import cos_sim, sentiment_gain
from allears.metrics.strategies import strategy_accuracy, strategy_top_n


def test_cos_sim_by_hand() -> None:
    replies = [[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    personas = [[[1.0, 0.0], [0.0, 3.0]], [[0.0, -1.0]], np.zeros((0, 2))]
    # (1 + 0) / 2 and -1; the third has no persona
    assert cos_sim(replies, personas) == pytest.approx((0.5 - 1) / 2)


def test_cos_sim_does_not_mind_lengths_and_a_vector_of_zeros_is_like_nothing() -> None:
    assert cos_sim([[3.0, 4.0]], [[[30.0, 40.0]]]) == pytest.approx(1)
    assert cos_sim([[0.0, 0.0]], [[[1.0, 0.0]]]) == 0


def test_cos_sim_refuses_what_it_cannot_compare() -> None:
    with pytest.raises(ValueError, match="got 1 and 2"):
        cos_sim([[1.0]], [[[1.0]], [[1.0]]])
    with pytest.raises(ValueError, match="no reply has a persona"):
        cos_sim([[1.0]], [np.zeros((0, 1))])
    with pytest.raises(ValueError, match="expected vectors"):
        cos_sim([1.0], [[[1.0]]])


def test_sentiment_gain_by_hand() -> None:
    assert sentiment_gain([0.5, 0.0], [-0.5, 0.4]) == pytest.approx(0.3)
    with pytest.raises(ValueError, match="every reply answers something"):
        sentiment_gain([0.5], [0.1, 0.2])


def test_strategy_accuracy_by_hand() -> None:
    assert strategy_accuracy(["Question", "Others", "Question"], ["Question"] * 3) == pytest.approx(200 / 3)


def test_top_n_counts_the_right_one_among_the_first_n() -> None:
    ranked = [["Question", "Others"], ["Others", "Question"], ["Information", "Others"]]
    gold = ["Question"] * 3
    assert [strategy_top_n(ranked, gold, n) for n in (1, 2, 9)] == pytest.approx([100 / 3, 200 / 3, 200 / 3])
    with pytest.raises(ValueError, match="got 3 and 2"):
        strategy_top_n(ranked, gold[:2], 1)
    with pytest.raises(ValueError, match="at least 1"):
        strategy_top_n(ranked, gold, 0)
