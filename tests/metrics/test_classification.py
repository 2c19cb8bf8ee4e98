"""Measures of classifiers against numbers worked out by hand, and against scikit-learn where it is installed."""

from __future__ import annotations

import numpy as np
import pytest

from allears.errors import AllearsError
from allears.metrics.classification import (
    best_label,
    confusion,
    expected_calibration_error,
    macro_f1,
    reliability,
    token_f1,
    top_hits,
)

# Three labels, four examples; the second example's scores are a tie.
SCORES = np.array([[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.1, 0.3, 0.6], [0.5, 0.3, 0.2]])
GOLD = np.eye(3, dtype=bool)[[0, 1, 1, 2]]


def test_top_k_counts_the_examples_whose_label_is_among_the_first_k():
    assert top_hits(SCORES, GOLD, 1).tolist() == [100, 0, 0, 0]
    assert top_hits(SCORES, GOLD, 2).tolist() == [100, 100, 100, 0]
    assert top_hits(SCORES, GOLD, 3).tolist() == [100, 100, 100, 100]


def test_a_tie_is_lost():
    assert top_hits([[0.5, 0.5]], [[True, False]], 1).tolist() == [0]


def test_one_of_several_true_labels_is_enough():
    assert top_hits([[0.1, 0.9, 0.3]], [[True, False, True]], 1).tolist() == [0]
    assert top_hits([[0.1, 0.2, 0.3]], [[True, False, True]], 1).tolist() == [100]


def test_scores_that_are_not_numbers_are_refused():
    with pytest.raises(AllearsError, match="not numbers"):
        top_hits([[np.nan, 1.0]], [[True, False]], 1)


def test_the_best_label_is_the_first_of_equals():
    assert best_label(SCORES).tolist() == np.eye(3, dtype=bool)[[0, 0, 2, 0]].tolist()


def test_macro_f1_is_the_mean_over_labels():
    # label 0: 1 right, 3 said, 1 true: 2/4; label 1: never said, 2 true: 0; label 2: 1 said, 1 true, none right: 0
    assert macro_f1(GOLD, best_label(SCORES)) == pytest.approx(100 * (0.5 + 0 + 0) / 3)


def test_a_label_that_nobody_gave_or_said_does_not_count():
    gold = np.eye(4, dtype=bool)[[0, 1]]
    assert macro_f1(gold, gold) == 100.0


def test_confusion_has_true_labels_in_rows():
    assert confusion(GOLD, best_label(SCORES)).tolist() == [[1, 0, 0], [1, 0, 1], [1, 0, 0]]


def test_calibration_error_is_the_weighted_distance_between_sure_and_right():
    # bin of 0.9: two examples, one right, distance 0.4; bin of 0.6: one example, right, distance 0.4
    assert expected_calibration_error([0.9, 0.9, 0.6], [1, 0, 1], bins=10) == pytest.approx(40.0)
    # as sure as it is right
    assert expected_calibration_error([0.5, 0.5], [1, 0], bins=10) == pytest.approx(0.0)


def test_the_reliability_curve_leaves_out_empty_bins_and_counts_full_certainty_in_the_last():
    curve = reliability([1.0, 0.95, 0.05], [True, False, False], bins=10)
    assert curve.counts.tolist() == [1, 2]
    assert curve.confidence.tolist() == pytest.approx([0.05, 0.975])
    assert curve.accuracy.tolist() == pytest.approx([0.0, 0.5])


def test_token_f1_by_hand():
    assert token_f1([1, 1, 0, 0], [0, 1, 1, 0]) == 50.0
    assert token_f1([1, 0], [1, 0]) == token_f1([0, 0], [0, 0]) == 100.0
    assert token_f1([0, 0], [0, 1]) == token_f1([1, 0], [0, 0]) == 0.0
    assert token_f1([], []) == 100.0
    with pytest.raises(ValueError, match="same tokens"):
        token_f1([1], [1, 0])


def test_shapes_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="must both be"):
        macro_f1(GOLD, GOLD[:2])
    with pytest.raises(ValueError, match="same examples"):
        reliability([0.5], [True, False])
    with pytest.raises(ValueError, match="between 0 and 1"):
        reliability([1.5], [True])


def test_scikit_learn_agrees():
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(0)
    scores = random.random((300, 6))
    labels = random.integers(6, size=300)
    gold = np.eye(6, dtype=bool)[labels]
    said = best_label(scores)
    assert macro_f1(gold, said) == pytest.approx(
        100 * metrics.f1_score(labels, scores.argmax(1), average="macro")
    )
    assert confusion(gold, said).tolist() == metrics.confusion_matrix(labels, scores.argmax(1)).tolist()
    for k in (1, 2, 3, 5):
        expected = 100 * metrics.top_k_accuracy_score(labels, scores, k=k)
        assert top_hits(scores, gold, k).mean() == pytest.approx(expected)
    several = random.random((300, 6)) < 0.3
    found = random.random((300, 6)) < 0.3
    assert macro_f1(several, found) == pytest.approx(100 * metrics.f1_score(several, found, average="macro"))
