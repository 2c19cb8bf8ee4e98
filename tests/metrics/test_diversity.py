"""Diversity and repetition: values worked out by hand."""

from __future__ import annotations

import pytest

from allears.metrics.diversity import distinct_n, ead_n, repetition_rate


def test_distinct_n_by_hand():
    texts = ["I am here", "i am there"]
    assert distinct_n(texts, 1) == pytest.approx(100 * 4 / 6)
    assert distinct_n(texts, 2) == pytest.approx(100 * 3 / 4)
    assert distinct_n(texts, 3) == pytest.approx(100)


def test_ngrams_do_not_cross_from_one_text_into_the_next():
    assert distinct_n(["a b", "a b"], 2) == pytest.approx(50)
    assert distinct_n(["a", "b"], 2) == 0


def test_ead_by_hand():
    # 3 different words of 4, V = 10
    assert ead_n(["a b a c"], 1, 10) == pytest.approx(100 * 3 / (10 * (1 - 0.9**4)))


def test_ead_does_not_punish_length_the_way_distinct_does():
    import random

    source = random.Random(0)
    vocabulary = [f"w{number}" for number in range(200)]
    short, long = ([" ".join(source.choices(vocabulary, k=length))] for length in (50, 2000))
    assert distinct_n(long, 1) < 0.2 * distinct_n(short, 1)
    assert ead_n(long, 1, 200) == pytest.approx(ead_n(short, 1, 200), rel=0.15)
    assert ead_n(long, 1, 200) == pytest.approx(100, rel=0.05)


def test_no_texts_have_no_diversity():
    assert distinct_n([], 1) == 0
    assert ead_n([], 1, 100) == 0


def test_ead_gives_the_papers_distance_from_distinct():
    """PAL, Table 3: D-1 of 5.00 is E-1 of 6.73 with Blenderbot-small's vocabulary at some 35,000 words."""
    texts = [" ".join(f"w{number % 1755}" for number in range(35_100))]
    assert distinct_n(texts, 1) == pytest.approx(5.00, abs=0.005)
    assert ead_n(texts, 1, 54_944) == pytest.approx(6.73, abs=0.1)


def test_repetition_by_hand():
    # "a b c", "b c a", "c a b", "a b c": one of four was there before
    assert repetition_rate(["a b c a b c"]) == pytest.approx(25)
    assert repetition_rate(["a b c", "a b c"]) == 0  # two replies may be alike
    assert repetition_rate(["a b c a b c", "d e f"]) == pytest.approx(20)
    assert repetition_rate(["no no no no"], 1) == pytest.approx(75)
    assert repetition_rate(["", "a"]) == 0
