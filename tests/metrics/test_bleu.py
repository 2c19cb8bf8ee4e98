"""BLEU in its three meanings: values worked out by hand."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allears.errors import AllearsError
from allears.metrics.bleu import avg_bleu, bleu, moses_bleu

# 6 tokens against 6; 5 words, 3 pairs, 1 triple and no four in common.
HYPOTHESIS, REFERENCE = ["the cat sat on a mat"], ["the cat is on a mat"]


def test_bleu_n_is_the_geometric_mean_of_n_precisions():
    assert bleu(HYPOTHESIS, REFERENCE, 1) == pytest.approx(100 * 5 / 6)
    assert bleu(HYPOTHESIS, REFERENCE, 2) == pytest.approx(100 * (5 / 6 * 3 / 5) ** (1 / 2))
    assert bleu(HYPOTHESIS, REFERENCE, 3) == pytest.approx(100 * (5 / 6 * 3 / 5 * 1 / 4) ** (1 / 3))
    assert bleu(HYPOTHESIS, REFERENCE, 4) == 0  # no smoothing


def test_avg_bleu_is_the_mean_of_bleu_1_to_4_and_another_number_than_bleu_4():
    expected = sum(bleu(HYPOTHESIS, REFERENCE, n) for n in (1, 2, 3, 4)) / 4
    assert avg_bleu(HYPOTHESIS, REFERENCE) == pytest.approx(expected)
    assert avg_bleu(HYPOTHESIS, REFERENCE) > bleu(HYPOTHESIS, REFERENCE, 4)


def test_bleu_counts_over_the_corpus_not_sentence_by_sentence():
    hypotheses, references = ["a b c d", "x y"], ["a b c d", "p q"]
    # together: 4 of 6 words, 3 of 4 pairs
    assert bleu(hypotheses, references, 2) == pytest.approx(100 * (4 / 6 * 3 / 4) ** 0.5)


def test_a_short_answer_pays_the_brevity_penalty():
    assert bleu(["a b c"], ["a b c d e"], 1) == pytest.approx(100 * math.exp(1 - 5 / 3))


def test_a_word_is_not_counted_more_often_than_the_reference_has_it():
    assert bleu(["the the the the"], ["the cat sat down"], 1) == pytest.approx(25)


def test_bleu_ignores_case_and_separates_punctuation():
    assert bleu(["Oh no, I am sorry."], ["oh no , i am sorry ."], 4) == pytest.approx(100)


def test_moses_bleu_takes_tokens_as_they_are():
    assert moses_bleu(["oh no , i am SORRY"], ["oh no , i am sorry"]) == pytest.approx(100)
    assert moses_bleu(["oh no, i am sorry now"], ["oh no , i am sorry now"]) < 100
    assert bleu(["oh no, i am sorry now"], ["oh no , i am sorry now"]) == pytest.approx(100)


def test_moses_bleu_by_hand():
    # 5 of 6 words, 4 of 5 pairs, 3 of 4 triples, 2 of 3 fours
    assert moses_bleu(["a b c d e f"], ["a b c d e g"]) == pytest.approx(
        100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    )


@given(st.lists(st.text("abc ", min_size=1, max_size=20), min_size=1, max_size=5))
def test_bleu_lies_between_0_and_100(texts):
    assert -1e-6 <= avg_bleu(texts, texts[::-1]) <= 100 + 1e-6


def test_every_hypothesis_needs_a_reference():
    with pytest.raises(ValueError, match="got 2 and 1"):
        bleu(["a", "b"], ["a"])


def test_without_sacrebleu_the_error_names_the_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(AllearsError, match=r'pip install "allears\[train\]"'):
        bleu(["a"], ["a"])


def test_bleu_is_nltks_number():
    """Another library's arithmetic on the same tokens."""
    from nltk.translate.bleu_score import corpus_bleu

    hypotheses = ["i am so sorry to hear that you lost it", "that sounds hard , how are you now"]
    references = ["i am sorry to hear that you have lost it", "that sounds very hard . how are you now"]
    for n in (1, 2, 3, 4):
        theirs = corpus_bleu(
            [[text.split()] for text in references],
            [text.split() for text in hypotheses],
            weights=[1 / n] * n,
        )
        assert bleu(hypotheses, references, n) == pytest.approx(100 * theirs)
    assert moses_bleu(hypotheses, references) == pytest.approx(100 * theirs)
