"""Temperatures: found again where they were put in, and never worse than none."""

from __future__ import annotations

import numpy as np
import pytest

from allears.metrics.classification import expected_calibration_error, top_hits
from allears.runtime.calibration import fit_temperature, negative_log_likelihood, probabilities


def drawn(temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """Labels drawn from honest probabilities; the logits are `temperature` times too sure of them."""
    random = np.random.default_rng(0)
    logits = random.normal(size=(4000, 5)) * 2
    chosen = np.array([random.choice(5, p=row) for row in probabilities(logits)])
    return logits * temperature, np.eye(5, dtype=bool)[chosen]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_that_was_put_in_is_found(temperature: float):
    logits, gold = drawn(temperature)
    assert fit_temperature(logits, gold) == pytest.approx(temperature, rel=0.06)


def test_a_fitted_temperature_makes_the_probabilities_honest_and_keeps_the_answers():
    logits, gold = drawn(3.0)
    right = top_hits(logits, gold, 1) > 0
    before, after = probabilities(logits), probabilities(logits, temperature=fit_temperature(logits, gold))
    assert expected_calibration_error(before.max(1), right) > 15
    assert expected_calibration_error(after.max(1), right) < 4
    assert (before.argmax(1) == after.argmax(1)).all()


def test_several_labels_at_once_have_a_temperature_too():
    random = np.random.default_rng(1)
    logits = random.normal(size=(4000, 3)) * 2
    gold = random.random((4000, 3)) < probabilities(logits, multi_label=True)
    assert fit_temperature(logits * 2.5, gold, multi_label=True) == pytest.approx(2.5, rel=0.06)


def test_probabilities_of_huge_logits_are_still_numbers():
    huge = [[1e4, -1e4, 0.0]]
    assert probabilities(huge).tolist() == [[1.0, 0.0, 0.0]]
    assert probabilities(huge, multi_label=True).tolist() == [[1.0, 0.0, 0.5]]


def test_the_likelihood_by_hand():
    # softmax of (log 3, 0) is (3/4, 1/4)
    logits = [[np.log(3.0), 0.0]]
    assert negative_log_likelihood(logits, [[True, False]]) == pytest.approx(-np.log(0.75))
    assert negative_log_likelihood(logits, [[True, False]], multi_label=True) == pytest.approx(
        -np.log(0.75) - np.log(0.5)
    )
