"""The greedy match of token vectors."""

from __future__ import annotations

import numpy as np
import pytest

from allears.metrics.token_match import token_match

AXES = np.eye(3)


def test_equal_texts_match_wholly_whatever_their_order_or_length_of_vectors():
    assert token_match(AXES, AXES) == pytest.approx(100)
    assert token_match(5 * AXES[::-1], AXES) == pytest.approx(100)


def test_precision_and_recall_are_both_counted():
    # one of two tokens is in the reference; the reference's only token is matched
    assert token_match(AXES[:2], AXES[:1]) == pytest.approx(200 * 0.5 * 1 / 1.5)
    assert token_match(AXES[:1], AXES[:2]) == pytest.approx(token_match(AXES[:2], AXES[:1]))


def test_nearness_counts_by_its_cosine():
    assert token_match([[1, 0]], [[1, 1]]) == pytest.approx(100 / np.sqrt(2))


def test_what_shares_nothing_or_has_no_tokens_scores_nothing():
    assert token_match(AXES[:1], AXES[1:]) == 0
    assert token_match(np.zeros((0, 3)), AXES) == 0
    assert token_match([[0, 0, 0]], AXES) == 0
    with pytest.raises(ValueError, match=r"\[tokens, size\]"):
        token_match(AXES[0], AXES)
