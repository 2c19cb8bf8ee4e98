"""Heads together, their thresholds, and the words that the normaliser must leave alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from allears.errors import AllearsError
from allears.listener.safety.dangers import Danger
from allears.listener.safety.patterns import pattern_table
from allears.listener.safety.reader_head import TwoHeads
from allears.listener.safety.real_words import mistaken, vocabulary
from allears.listener.safety.screen import CrisisScreen, Head, danger_threshold


def always(danger: float) -> Head:
    def head(_: str) -> Mapping[str, float]:
        return {"none": 1 - danger, "suicide": danger * 0.25, "abuse": danger * 0.75}

    return head


def test_two_heads_meet_in_the_middle_of_their_log_odds():
    both = TwoHeads(always(0.9), always(0.5))
    shares = both("x")
    assert 1 - shares["none"] == pytest.approx(0.75)  # odds 9 and 1: their mean on the log scale is 3
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["abuse"] == pytest.approx(3 * shares["suicide"])


def test_two_heads_that_are_dead_sure_of_opposite_things_raise_no_error():
    assert 0 < TwoHeads(always(0.0), always(1.0))("x")["none"] < 1


def test_two_heads_bring_their_threshold_to_the_screen():
    message = "The curtains are drawn."
    assert CrisisScreen(TwoHeads(always(0.9), always(0.9), threshold=0.95)).check(message).danger is None
    assert (
        CrisisScreen(TwoHeads(always(0.9), always(0.9), threshold=0.8)).check(message).danger is Danger.ABUSE
    )


def test_a_threshold_is_what_few_harmless_messages_reach():
    def by_length(text: str) -> Mapping[str, float]:
        return {"none": 1 - len(text) / 200, "abuse": len(text) / 200}

    harmless = ["x" * length for length in range(100)]
    threshold = danger_threshold(by_length, harmless, false_alarms=0.05)
    raised = sum(1 - by_length(text)["none"] >= threshold for text in harmless)
    assert raised == 5


def test_a_threshold_from_no_messages_is_still_a_threshold():
    assert danger_threshold(always(0.5), []) == pytest.approx(0.5, abs=1e-5)


def test_words_that_would_be_changed_are_found():
    assert mistaken(["kiling", "banana"]) == ["kiling"]


def test_a_vocabulary_is_read_from_a_tokenizer_or_a_list(tmp_path: Path):
    (tmp_path / "tokenizer.json").write_text(
        json.dumps({"model": {"vocab": {"cake": 0, "##ing": 1, "A": 2, "é": 3}}})
    )
    (tmp_path / "words.txt").write_text("cake 0.1 0.2\ntea 0.3\nto 1\n")
    assert vocabulary(tmp_path / "tokenizer.json") == {"cake"}
    assert vocabulary(tmp_path / "words.txt") == {"cake", "tea"}


def test_no_word_of_the_shipped_vocabulary_is_taken_for_a_misspelt_one():
    from allears.selection.loading import default_bundle

    try:
        folder = default_bundle()
    except AllearsError as error:
        pytest.skip(str(error))
    assert mistaken(vocabulary(folder / "tokenizer.json")) == []
    assert "cooking" in pattern_table().normalise.real_words
