"""Heads that are told the facts of a conversation: the same in torch and in a bundle, no concern of the others."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from allears.conversation import Role, Turn
from allears.corpora.heads import head, strategy_reading
from allears.errors import AllearsError
from allears.evaluation.understanding import evaluate_understanding
from allears.models.reader import saved
from allears.models.reader.saved import TorchReader
from allears.runtime import onnx_reader as runtime
from allears.runtime.onnx_reader import OnnxReader
from allears.text.conversation_facts import facts_of
from allears.text.reading import Reading
from allears.text.reading_layout import ReadingTokens
from allears.training.export.bundle import add_reader, export_with_reader
from allears.training.loop import train
from allears.training.recipe import Recipe, read_recipe
from allears.training.tasks import make_task
from allears.training.understanding.task import UnderstandingTask, some_unknown
from tiny_models import tiny_reader, tiny_selector

SEEKER, SUPPORTER = Role.SEEKER, Role.SUPPORTER
STRATEGY = head("strategy")
OTHERS = ("ed-emotion", "goemotions", "epitome-explorations")


def talk(*strategies: str) -> Reading:
    """A conversation in which the supporter did these things, always with the same words."""
    turns = [
        turn
        for strategy in strategies
        for turn in (Turn(SEEKER, "my cat is lost"), Turn(SUPPORTER, "so sorry", strategy=strategy))
    ]
    return replace(strategy_reading([*turns, Turn(SEEKER, "so sad")]), labels=("Others",))


READINGS = [
    talk(),
    talk("Question"),
    talk("Others", "Question"),
    talk("Question", "Others"),
    talk(*["Information"] * 9),
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TorchReader:
    return tiny_reader(tiny_selector(tmp_path_factory.mktemp("trained")), hidden=8, informed=["strategy"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, trained: TorchReader) -> Path:
    folder = tmp_path_factory.mktemp("bundles")
    for precision in ("float32", "int8"):
        export_with_reader(tiny_selector(folder / "run"), trained, folder / precision, precision=precision)
    return folder


def test_a_bundle_answers_as_the_torch_reader(made: Path, trained: TorchReader):
    bundle = OnnxReader.from_bundle(made / "float32")
    assert bundle.card.informed == ("strategy",)
    expected = trained.probabilities(STRATEGY, READINGS)
    np.testing.assert_allclose(bundle.probabilities(STRATEGY, READINGS), expected, atol=1e-4)
    np.testing.assert_allclose(
        OnnxReader.from_bundle(made / "int8").probabilities(STRATEGY, READINGS), expected, atol=0.05
    )


def test_past_strategies_are_told_and_not_shown(made: Path):
    bundle = OnnxReader.from_bundle(made / "float32")
    one, other = talk("Question", "Others"), talk("Others", "Question")
    shown = ReadingTokens([one.bare, other.bare], bundle.tokenizer, bundle.card.limits)
    assert shown.rows[0] == shown.rows[1]
    first, second = bundle.probabilities(STRATEGY, [one, other])
    assert np.abs(first - second).max() > 0.01


def test_a_saved_reader_is_informed_when_it_is_loaded(trained: TorchReader, tmp_path: Path):
    saved.save(tmp_path, trained.model, trained.card, trained.tokenizer)
    again = saved.load(tmp_path)
    assert again.card.informed == ("strategy",)
    np.testing.assert_array_equal(
        again.probabilities(STRATEGY, READINGS), trained.probabilities(STRATEGY, READINGS)
    )


def test_states_and_facts_give_what_asking_the_head_gives(made: Path):
    bundle = OnnxReader.from_bundle(made / "float32")
    data = ReadingTokens([reading.bare for reading in READINGS], bundle.tokenizer, bundle.card.limits)
    tokens = data.tokens(range(len(READINGS)))
    states = bundle.encoder.run(tokens.ids, tokens.mask, tokens.segments).states
    assert states is not None
    found = bundle.from_states(states, tokens.mask, facts_of(READINGS))["strategy"]
    np.testing.assert_allclose(found, bundle.probabilities(STRATEGY, READINGS), atol=1e-4)
    untold = bundle.from_states(states, tokens.mask)["strategy"]
    assert np.isfinite(untold).all()
    assert np.abs(untold - found).max() > 0.01


def test_facts_move_no_other_head(made: Path):
    bundle = OnnxReader.from_bundle(made / "int8")
    states = np.random.default_rng(0).normal(size=(2, 5, bundle.card.size)).astype(np.float32)
    mask = np.ones((2, 5), np.int64)
    told = bundle.from_states(states, mask, facts_of(READINGS[:2]))
    untold = bundle.from_states(states, mask)
    for name in OTHERS:
        np.testing.assert_array_equal(told[name], untold[name])


def test_a_whole_reading_tells_the_facts_of_its_turns(made: Path, trained: TorchReader):
    bundle = OnnxReader.from_bundle(made / "float32")
    plain = [Reading((Turn(SEEKER, "my cat is lost"),)), Reading((Turn(SUPPORTER, "my cat is lost"),))]
    for reading, likely in zip(plain, bundle.answers(plain)["strategy"], strict=True):
        np.testing.assert_allclose(likely, trained.probabilities(STRATEGY, [reading])[0], atol=1e-4)


def test_with_predicted_past_strategies_its_own_answers_are_told(trained: TorchReader):
    gold = [
        replace(talk(*["Information"] * count), conversation="a", position=2 * count + 1)
        for count in range(4)
    ]
    own = evaluate_understanding(trained, STRATEGY, gold, past="predicted").probabilities
    given = evaluate_understanding(trained, STRATEGY, gold).probabilities
    np.testing.assert_allclose(own[0], given[0], atol=1e-6)  # nothing was done before
    assert np.abs(own[1:] - given[1:]).max() > 0.01


def test_a_graph_that_knows_other_facts_is_one_sentence(made: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runtime, "FACTS", 7)
    with pytest.raises(AllearsError, match=r"other heads than reader\.json says"):
        OnnxReader.from_bundle(made / "float32")


def test_a_bundle_of_before_there_were_facts_is_read(made: Path, tmp_path: Path):
    folder = Path(shutil.copytree(made / "float32", tmp_path / "bundle"))
    add_reader(folder, tiny_reader(tiny_selector(tmp_path / "run"), hidden=8))
    card = json.loads((folder / "reader.json").read_text())
    assert card.pop("informed") == []
    text = json.dumps(card)
    (folder / "reader.json").write_text(text)
    bundle = json.loads((folder / "bundle.json").read_text())
    bundle["files"]["reader.json"]["bytes"] = len(text.encode())
    (folder / "bundle.json").write_text(json.dumps(bundle))
    assert OnnxReader.from_bundle(folder).card.informed == ()


def test_some_readings_are_learned_without_past_strategies_but_with_their_length():
    reading = talk(*["Information"] * 9)
    mixed = some_unknown([reading] * 400, 0.2, seed=1)
    hidden = [each for each in mixed if each is not reading]
    assert 40 < len(hidden) < 120
    assert not any(turn.strategy for each in hidden for turn in (*each.turns, *(each.earlier or ())))
    assert len(hidden[0].earlier or ()) == len(reading.earlier or ())


# --- learning


def write_esconv(root: Path) -> None:
    """The supporter asks, then suggests, then asks again: what comes next is plain from what was done.

    Half of them begin with a suggestion, so what is done first is anybody's guess.
    """
    (root / "esconv").mkdir()
    for name, count in (("train", 30), ("valid", 12), ("failed", 3)):
        talks = []
        for number in range(count):
            names = ["Question", "Providing Suggestions"] * 3
            dialog = []
            for strategy in names[number % 2 :]:
                dialog.append({"speaker": "seeker", "annotation": {}, "content": f"it fell on day {number}"})
                dialog.append(
                    {
                        "speaker": "supporter",
                        "annotation": {"strategy": strategy},
                        "content": f"i see {number}",
                    }
                )
            talks.append(
                {"emotion_type": "sadness", "situation": "it fell", "problem_type": "home", "dialog": dialog,
                 "survey_score": {"seeker": {}, "supporter": {}}}
            )  # fmt: skip
        (root / "esconv" / f"{name}.json").write_text(json.dumps(talks))


@pytest.fixture
def recipe(tmp_path: Path, corpus_root: Path, tiny_encoder: Path) -> Callable[..., Recipe]:
    write_esconv(corpus_root)
    path = tmp_path / "recipe.toml"
    path.write_text(f"""task = "understanding"
[data]
root = "{corpus_root}"
[heads]
names = ["ed-emotion", "strategy"]
[model]
encoder = "{tiny_encoder}"
hidden = 8
[training]
epochs = 2
batch = 16
learning_rate = 3e-3
metric = "accuracy"
""")
    return lambda *changes: read_recipe(path, changes)


def test_one_head_learns_from_facts_and_the_other_stays_to_the_last_bit(recipe, tmp_path: Path):
    start = tmp_path / "start"
    train(make_task(recipe(), start), recipe(), start)
    changes = (
        f'model.start="{start}"', "model.frozen=true", 'heads.learned=["strategy"]',
        'heads.informed=["strategy"]', "training.epochs=30",
    )  # fmt: skip
    wanted, folder = recipe(*changes), tmp_path / "run"
    found = train(make_task(wanted, folder), wanted, folder)
    assert found["accuracy_strategy"] == pytest.approx(100 * 60 / 66)  # all but half of the 12 first answers
    assert "accuracy_ed-emotion" not in found
    before, after = saved.load(start), saved.load(folder)
    assert after.card.temperatures["ed-emotion"] == before.card.temperatures["ed-emotion"]
    kept = {name: value for name, value in before.model.state_dict().items() if "strategy" not in name}
    for name, value in kept.items():
        assert torch.equal(value, after.model.state_dict()[name]), name
    report = evaluate_understanding(after, STRATEGY, STRATEGY.read("valid", wanted.tables["data"]["root"]))
    assert report.accuracy.value == pytest.approx(found["accuracy_strategy"], abs=3)


def test_an_encoder_that_learns_has_informed_heads_too(recipe, tmp_path: Path):
    wanted = recipe('heads.names=["strategy"]', 'heads.informed=["strategy"]', "training.epochs=25")
    found = train(make_task(wanted, tmp_path / "run"), wanted, tmp_path / "run")
    assert found["accuracy_strategy"] == pytest.approx(100 * 60 / 66)


def test_failed_conversations_are_learned_from_only_if_asked_for(recipe, tmp_path: Path):
    def readings(*changes: str) -> int:
        task = make_task(recipe('heads.names=["strategy"]', *changes), tmp_path / "run")
        assert isinstance(task, UnderstandingTask)
        return len(task.train[0])

    assert readings("data.failed=true") == readings() + 17  # 6, 5 and 6 of three conversations


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ('heads.informed=["topic"]', "heads.informed has 'topic', which heads.names has not"),
        ('heads.learned=["topic"]', "heads.learned has 'topic', which heads.names has not"),
        (
            'heads.learned=["strategy"]',
            "ed-emotion does not learn, so model.start must be a reader that has it",
        ),
    ],
)
def test_a_recipe_that_cannot_be_meant_is_one_sentence(recipe, tmp_path: Path, change: str, sentence: str):
    with pytest.raises(AllearsError, match=sentence):
        make_task(recipe(change), tmp_path / "run")


def test_heads_that_stay_must_keep_their_form(recipe, tmp_path: Path):
    start = tmp_path / "start"
    train(make_task(recipe(), start), recipe(), start)
    with pytest.raises(AllearsError, match=r"model\.hidden must be 8 as there"):
        make_task(
            recipe(f'model.start="{start}"', 'heads.learned=["strategy"]', "model.hidden=4"), tmp_path / "run"
        )
