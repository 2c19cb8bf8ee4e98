"""The public surface: one line each, texts, turns and messages alike, and light to import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import allears
from allears import AllearsError, Role, Turn

SAID = "My exam is tomorrow and I can't sleep."


def test_everything_public_is_listed_and_there():
    assert set(allears.__all__) <= set(dir(allears))
    assert all(getattr(allears, name) is not None for name in allears.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = allears.nothing


def test_emotions_are_the_likeliest_of_thirty_two():
    found = allears.emotions(SAID, top=3)
    assert next(iter(found)) == "anxious"
    assert len(found) == 3
    assert sorted(found.values(), reverse=True) == list(found.values())
    assert allears.emotions([{"role": "user", "content": SAID}], top=3) == found


def test_only_the_seekers_turns_are_read():
    with pytest.raises(AllearsError, match="no turn is the seeker's"):
        allears.emotions(Turn(Role.SUPPORTER, "Hello."))


def test_persona_is_a_function_even_after_its_room_was_imported():
    import allears.personas.contract

    assert allears.persona("I live in Rome.") == ["I live in Rome."]


def test_replies_are_ranked_best_first_with_their_place():
    best, worst = allears.rank("My dog died.", ["Congratulations!", "I'm so sorry about your dog."])
    assert (best.text, best.index) == ("I'm so sorry about your dog.", 1)
    assert best.score > worst.score
    assert allears.rank("My dog died.", []) == []


def test_generate_takes_strategy_persona_and_alpha():
    first = allears.generate("I failed my exam.", strategy="Question", persona=["i study law"], alpha=0.5)
    assert first == allears.generate(
        ["I failed my exam."], strategy="Question", persona=["i study law"], alpha=0.5
    )
    with pytest.raises(AllearsError, match="there is no strategy 'Hug'"):
        allears.generate("I failed.", strategy="Hug")


def test_evaluate_gives_the_papers_measures_under_their_flat_names():
    found = allears.evaluate(["the cat sat on the mat"], ["the cat sat on the mat"])
    assert found["bleu_4"] == pytest.approx(100)
    assert {"bleu_2", "rouge_l", "distinct_2", "ead_2"} <= found.keys()
    with pytest.raises(AllearsError, match="one prediction for each reference, got 1 and 2"):
        allears.evaluate(["a"], ["b", "c"])


def test_train_names_a_recipe_that_is_not_there(tmp_path):
    with pytest.raises(AllearsError, match="no such recipe"):
        allears.train(tmp_path / "none.toml")


def test_reading_a_corpus_needs_one_line():
    talk = next(iter(allears.read("talks", "valid")))
    assert talk.source == "talks"


def test_the_public_names_cost_nothing_before_they_are_used():
    code = (
        "import sys, allears; dir(allears); print(*{'onnxruntime', 'torch', 'tokenizers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
