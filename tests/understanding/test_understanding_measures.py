"""What is measured of a head, with gold and with predicted past strategies, and two models side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from allears.conversation import Conversation, Role, Turn
from allears.corpora.heads import Head, head
from allears.errors import AllearsError
from allears.evaluation.understanding import compare, evaluate_understanding
from allears.evaluation.understanding_plots import save_calibration_picture, save_confusion_picture
from allears.labels import STRATEGIES
from allears.models.reader.loading import load_reading_model
from allears.text.reading import Reading

POLARITY = head("ed-polarity")


def about(text: str, label: str) -> Reading:
    return Reading((Turn(Role.SEEKER, text),), (label,))


READINGS = [
    about("good", "positive"),
    about("good", "negative"),
    about("bad", "negative"),
    about("bad", "negative"),
]


class ByWord:
    """Says "positive" with the given share for `good`, "negative" with it for anything else."""

    def __init__(self, sure: float):
        self.sure = sure

    def probabilities(self, head: Head, readings: Sequence[Reading]) -> np.ndarray:
        positive = [self.sure if reading.text == "good" else 1 - self.sure for reading in readings]
        return np.stack([positive, 1 - np.array(positive)], axis=1)


class Echo:
    """Says that the strategy shown last comes again; where none is shown, the first one comes."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def probabilities(self, head: Head, readings: Sequence[Reading]) -> np.ndarray:
        found = np.full((len(readings), len(head.labels)), 0.01)
        for row, reading in enumerate(readings):
            self.shown.append(reading.text)
            past = [turn.strategy for turn in reading.turns if turn.strategy]
            found[row, head.labels.index(past[-1]) if past else 0] = 0.93
        return found


def test_the_numbers_by_hand():
    report = evaluate_understanding(ByWord(0.8), POLARITY, READINGS)
    numbers = report.flat()
    assert numbers["accuracy"] == numbers["top_1"] == 75
    assert numbers["top_2"] == 100
    # positive: 1 right, 2 said, 1 true: 2/3; negative: 2 right, 2 said, 3 true: 4/5
    assert numbers["macro_f1"] == pytest.approx(100 * (2 / 3 + 4 / 5) / 2)
    assert numbers["ece"] == pytest.approx(5)  # always 80% sure, 75% right
    assert (numbers["examples"], numbers["labels"]) == (4, 2)
    assert numbers["accuracy_low"] <= 75 <= numbers["accuracy_high"]
    assert report.confusion.tolist() == [[1, 0], [1, 2]]


def test_two_models_are_compared_by_mcnemars_test():
    right, wrong = ByWord(0.8), ByWord(0.2)
    first, second = (evaluate_understanding(model, POLARITY, READINGS) for model in (right, wrong))
    comparison = compare(first, second)
    assert comparison.accuracy.value == 50
    assert (comparison.test.wins, comparison.test.losses) == (3, 1)
    assert comparison.test.p_value == pytest.approx(0.625)
    with pytest.raises(AllearsError, match="same readings"):
        compare(first, evaluate_understanding(right, POLARITY, READINGS[:2]))


def test_a_limit_takes_the_same_sample_for_every_model():
    many = [about("good" if n % 3 else "bad", "positive" if n % 2 else "negative") for n in range(60)]
    first, second = (evaluate_understanding(ByWord(s), POLARITY, many, limit=10) for s in (0.8, 0.2))
    assert first.gold.tolist() == second.gold.tolist()
    assert len(first.gold) == 10


def support(name: str, strategies: Sequence[str]) -> Conversation:
    turns = []
    for number, strategy in enumerate(strategies):
        turns += [
            Turn(Role.SEEKER, f"ask {number}"),
            Turn(Role.SUPPORTER, f"help {number}", strategy=strategy),
        ]
    return Conversation(name, tuple(turns))


def test_past_strategies_are_gold_or_the_models_own():
    talks = [support("a", ["Others", "Others", "Others"]), support("b", ["Question", "Information"])]
    readings = list(head("strategy").readings(talks))
    gold, own = Echo(), Echo()
    with_gold = evaluate_understanding(gold, head("strategy"), readings)
    with_own = evaluate_understanding(own, head("strategy"), readings, past="predicted")
    assert STRATEGIES[0] == "Question"
    # shown "Others", it says so twice; of its own it only ever sees its first guess, "Question"
    assert with_gold.right.tolist() == [False, True, True, True, False]
    assert with_own.right.tolist() == [False, False, False, True, False]
    assert not any("[Others]" in text for text in own.shown)
    assert any("[Question] help 0" in text for text in own.shown)


def test_a_first_turn_that_nobody_was_asked_about_shows_no_strategy():
    talk = Conversation(
        "c",
        (
            Turn(Role.SUPPORTER, "hello", strategy="Others"),
            Turn(Role.SEEKER, "hi"),
            Turn(Role.SUPPORTER, "why?", strategy="Question"),
        ),
    )
    own = Echo()
    evaluate_understanding(own, head("strategy"), list(head("strategy").readings([talk])), past="predicted")
    assert own.shown == ["2 turns: hello hi"]


def test_strategies_long_past_are_the_models_own_too():
    talks = [support("a", ["Others"] * 6)]
    own = Echo()
    evaluate_understanding(own, head("strategy"), list(head("strategy").readings(talks)), past="predicted")
    assert own.shown[-1].startswith("11 turns: question question question question question ")
    assert not any("other" in text for text in own.shown)


def test_wrong_wishes_are_one_sentence():
    with pytest.raises(AllearsError, match="'gold' or 'predicted', got 'silver'"):
        evaluate_understanding(ByWord(0.8), POLARITY, READINGS, past="silver")
    with pytest.raises(AllearsError, match="reads no past strategies"):
        evaluate_understanding(ByWord(0.8), POLARITY, READINGS, past="predicted")
    with pytest.raises(AllearsError, match="nothing to read"):
        evaluate_understanding(ByWord(0.8), POLARITY, [])


def test_several_labels_count_from_the_threshold_on():
    goemotions = head("goemotions")
    joy, anger = goemotions.labels.index("joy"), goemotions.labels.index("anger")

    class Fixed:
        def probabilities(self, head: Head, readings: Sequence[Reading]) -> np.ndarray:
            found = np.zeros((len(readings), len(head.labels)))
            found[:, [joy, anger]] = 0.9, 0.31
            return found

    reading = Reading((Turn(Role.SEEKER, "ha"),), ("joy", "anger"))
    assert evaluate_understanding(Fixed(), goemotions, [reading]).macro_f1 == 100
    assert evaluate_understanding(Fixed(), goemotions, [about("ha", "joy")]).macro_f1 == 50


def test_pictures_are_written(tmp_path: Path):
    report = evaluate_understanding(ByWord(0.8), POLARITY, READINGS)
    save_confusion_picture(report, "polarity", tmp_path / "confusion.png")
    save_calibration_picture({"a": report, "b": report}, "polarity", tmp_path / "sure.svg")
    assert (tmp_path / "confusion.png").read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in (tmp_path / "sure.svg").read_text()
    with pytest.raises(AllearsError, match="a picture ends in"):
        save_confusion_picture(report, "polarity", tmp_path / "confusion.bmp")


@pytest.mark.parametrize("name", ["ed-emotion", "strategy", "ed-emotion-16", "epitome-explorations"])
def test_every_kind_of_head_has_a_confusion_picture(name: str, tmp_path: Path):
    chosen = head(name)

    class Flat:
        def probabilities(self, head: Head, readings: Sequence[Reading]) -> np.ndarray:
            return np.random.default_rng(0).random((len(readings), len(head.labels)))

    readings = [
        about("x", label) for label in chosen.labels[:-1]
    ]  # a label that never occurs has an empty row
    path = tmp_path / "confusion.png"
    save_confusion_picture(evaluate_understanding(Flat(), chosen, readings), name, path)
    assert path.stat().st_size > 5000


def test_models_that_cannot_be_opened_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("allears.runtime.bundle.files", lambda package: tmp_path)
    with pytest.raises(AllearsError, match="no such model"):
        load_reading_model(tmp_path / "nowhere", POLARITY)
    with pytest.raises(AllearsError, match="no default bundle"):
        load_reading_model("default", POLARITY)
    with pytest.raises(AllearsError, match="VADER only tells positive from negative"):
        load_reading_model("vader", head("ed-emotion"))
    with pytest.raises(AllearsError, match="unknown device 'abacus'"):
        load_reading_model(tmp_path, POLARITY, device="abacus")


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "least"), [("ed-emotion", 43.0), ("ed-emotion-cut", 41.0)])
def test_fasttext_reaches_the_ed_papers_accuracy(name: str, least: float, data_root: Path):
    pytest.importorskip("fasttext")
    model = load_reading_model("fasttext", head(name), data_root)
    report = evaluate_understanding(model, head(name), head(name).read("valid", data_root))
    assert report.accuracy.value >= least
