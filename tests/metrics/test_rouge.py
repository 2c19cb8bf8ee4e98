"""ROUGE-L beside the package everybody uses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from allears.metrics.rouge import longest_common_subsequence, rouge_l

SCORER = RougeScorer(["rougeL"])
TEXTS = st.lists(st.sampled_from(["I", "have", "a", "dog.", "don't", "two,", "2", ""])).map(" ".join)


@given(TEXTS, TEXTS)
@settings(max_examples=200, deadline=None)
def test_it_is_the_packages_number(first: str, second: str) -> None:
    assert rouge_l(first, second) == pytest.approx(100 * SCORER.score(second, first)["rougeL"].fmeasure)


def test_a_known_value() -> None:
    assert longest_common_subsequence(["a", "b", "c", "d"], ["b", "x", "d"]) == 2
    assert rouge_l("I own a small dog.", "I have a dog") == pytest.approx(100 * 2 * 3 / 9)
