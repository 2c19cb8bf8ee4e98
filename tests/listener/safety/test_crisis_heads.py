"""How the layers are weighed, and the words that the normaliser must leave alone."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from allears.errors import AllearsError
from allears.safety.cases_file import shipped_cases
from allears.safety.combination import Combination, WeightedSum, seen_by, shipped_combination
from allears.safety.dangers import Danger, Evidence
from allears.safety.patterns import pattern_table
from allears.safety.real_words import mistaken, vocabulary
from allears.training.safety.fit_screen import fit_sum, held_out_scores, reader_fingerprint, threshold_for

SUM = WeightedSum(-1.0, {"outright": 2.0, "ngrams": 0.5}, threshold=0.5)
BOTH = Combination(
    SUM, WeightedSum(-1.0, {"outright": 1.0, "ngrams": 0.5, "reader": 1.0}), sure=3.0, alone={"ngrams": 0.8}
)


def test_half_sure_is_where_the_sum_reaches_its_threshold():
    assert SUM.certainty({"outright": 0.5, "ngrams": 1.0}) == pytest.approx(0.5)
    assert SUM.certainty({"outright": 1.0, "ngrams": 1.0}) > 0.5 > SUM.certainty({})


def test_the_layers_are_seen_as_the_sum_takes_them():
    found = (
        Evidence("patterns", "a", Danger.ABUSE, 0.9),
        Evidence("patterns", "b", Danger.ABUSE, 0.3),
        Evidence("patterns", "c", Danger.ABUSE, 0.4),
    )
    seen = seen_by(found, {"none": 0.25, "abuse": 0.75}, None)
    assert seen == {"outright": 1.0, "hint": 0.4, "ngrams": pytest.approx(math.log(3))}
    assert seen_by((), {"none": 1.0}, {"none": 0.0})["reader"] == pytest.approx(6)  # no head is ever surer
    assert seen_by((), {"none": 1.0}, {"none": 0.0})["ngrams"] == pytest.approx(-6)


def test_without_a_reader_the_sum_without_one_decides():
    seen = {"outright": 1.0, "hint": 0.0, "ngrams": 1.0}
    assert BOTH.certainty(seen) == SUM.certainty(seen)


def test_the_reader_outvotes_a_suspicion_but_not_what_the_others_are_sure_of():
    assert BOTH.certainty({"outright": 1.0, "ngrams": 1.0}) > 0.5
    assert BOTH.certainty({"outright": 1.0, "ngrams": 1.0, "reader": -6.0}) < 0.5
    assert BOTH.certainty({"outright": 1.0, "ngrams": 4.5, "reader": -6.0}) > 0.5


def test_a_head_that_would_be_just_enough_alone_weighs_one_half():
    assert BOTH.alone_weight("ngrams", 0.8) == pytest.approx(0.5)
    assert BOTH.alone_weight("unknown", 0.7) == pytest.approx(0.7)


def test_a_combination_survives_being_stored_and_a_broken_one_is_one_sentence():
    assert Combination.from_json(BOTH.to_json()) == BOTH
    with pytest.raises(AllearsError, match=r"run `python -m allears.training.safety.fit_screen` again"):
        Combination.from_json("{}")


def test_a_fitted_sum_tells_danger_from_the_harmless_and_never_counts_a_layer_backwards():
    noise = np.random.default_rng(3)
    danger = np.arange(400) % 2 == 0
    useful = danger * 2.0 + noise.normal(size=400)
    seen = np.column_stack([useful, -1.0 * danger])
    fitted = fit_sum(seen, danger, ("ngrams", "hint"))
    assert fitted.weights["ngrams"] > 0.5
    assert fitted.weights["hint"] == 0  # it speaks against danger where there is danger: left out
    scores = held_out_scores(seen, danger, ("ngrams", "hint"))
    assert scores[danger].mean() > scores[~danger].mean() + 1


@pytest.mark.parametrize("allowed", [0, 5, 99])
def test_a_threshold_is_what_few_harmless_messages_reach(allowed: int):
    scores = np.arange(100.0)
    assert (scores >= threshold_for(scores, allowed)).sum() == allowed


def test_a_threshold_from_no_messages_is_still_a_threshold():
    assert threshold_for(np.zeros(0), 3) == 0


def test_the_layers_were_weighed_with_the_bundle_that_ships():
    """If not, run: python -m allears.training.safety.fit_screen"""
    from allears.runtime.bundle import default_bundle

    try:
        folder = default_bundle()
    except AllearsError as error:
        pytest.skip(str(error))
    fitted = shipped_combination().fitted
    assert fitted["reader"] == reader_fingerprint(folder)
    assert fitted["cases"] == len(shipped_cases("valid"))


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
    from allears.runtime.bundle import default_bundle

    try:
        folder = default_bundle()
    except AllearsError as error:
        pytest.skip(str(error))
    assert mistaken(vocabulary(folder / "tokenizer.json")) == []
    assert "cooking" in pattern_table().normalise.real_words
