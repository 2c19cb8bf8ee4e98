"""The extractor's teacher: a small made-up language model learns what turns tell and writes it down."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from persona_models import save_small_encoder, write_corpora
from typer.testing import CliRunner

from allears.cli import app
from allears.errors import AllearsError
from allears.models.extractor import saved, teacher
from allears.personas.examples import Telling, msc_tellings
from allears.training.loop import train
from allears.training.persona.labelling import read_tellings, unlabelled, write_tellings
from allears.training.recipe import read_recipe
from allears.training.tasks import make_task

sys.path.insert(0, str(Path(__file__).parents[2] / "generation"))
from causal_models import save_language_model

RECIPES = Path(__file__).parents[3] / "recipes"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder, a language model, and a teacher that has learned a little."""
    folder = tmp_path_factory.mktemp("teacher")
    write_corpora(folder / "data")
    save_language_model(folder / "base")
    changes = (
        f'data.root="{folder / "data"}"',
        f'model.pretrained="{folder / "base"}"',
        "data.valid_limit=20",
        "training.batch=8",
        "training.epochs=6",
        "training.learning_rate=5e-3",
        "training.average=0.0",
    )
    recipe = read_recipe(RECIPES / "persona-teacher.toml", list(changes))
    metrics = train(make_task(recipe, folder / "run"), recipe, folder / "run")
    assert set(metrics) >= {"rouge_l", "f1"}
    return folder


def test_it_learns_what_is_told(made: Path):
    fresh, learned = teacher.PersonaTeacher.from_base(str(made / "base")), teacher.load(made / "run")
    tellings = msc_tellings("train", made / "data")[:16]
    assert learned.loss(tellings).item() < 0.5 * fresh.loss(tellings).item()


def test_the_loss_is_taken_behind_the_arrow_alone(made: Path):
    opened = teacher.load(made / "run")
    opened.model.eval()
    one = Telling("I have a cat.", "I have a cat.")
    longer = Telling("I have a cat. " * 3, "")
    both = opened.loss([one, longer]).item()
    apart = [opened.loss([each]).item() for each in (one, longer)]
    counts = [len(opened.told([each.persona])[0]) for each in (one, longer)]
    mean = sum(loss * count for loss, count in zip(apart, counts, strict=True)) / sum(counts)
    assert both == pytest.approx(mean, rel=1e-4)  # padding counts nothing


def test_nothing_is_written_as_an_empty_text(made: Path, monkeypatch: pytest.MonkeyPatch):
    opened = teacher.load(made / "run")
    monkeypatch.setattr(opened, "_written", lambda asked: ["nothing", "I have a cat."][: len(asked)])
    assert opened.write(["well", "I have a cat, you know"]) == ["", "I have a cat."]


def test_only_what_may_be_trained_on_is_labelled(made: Path):
    held_out = {each.utterance for each in msc_tellings("held-out", made / "data")}
    seen = {each.utterance for each in msc_tellings("train", made / "data")}
    found = unlabelled(made / "data", 0, 1, corpora=())
    assert len(found) == len(set(found)) > 0
    assert not (held_out - seen) & set(found)
    assert len(unlabelled(made / "data", 3, 1, corpora=())) <= 6


def test_the_command_writes_a_file_that_an_extractor_learns_from(made: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("allears.training.persona.labelling.CORPORA", ())
    out = made / "data" / "told.jsonl.gz"
    words = [
        "persona",
        "label",
        str(made / "run"),
        "--root",
        str(made / "data"),
        "--out",
        str(out),
        "--limit",
        "20",
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "of which tell something" in done.output
    told = read_tellings(out)
    assert told
    assert not any(each.gold for each in told)
    save_small_encoder(tmp_path / "encoder")
    recipe = read_recipe(
        RECIPES / "persona-taught.toml",
        [
            f'data.root="{made / "data"}"',
            f'model.encoder="{tmp_path / "encoder"}"',
            "model.layers=1",
            "limits.utterance_tokens=24",
            "limits.persona_tokens=16",
            "training.batch=8",
            "training.epochs=1",
        ],
    )
    task = make_task(recipe, tmp_path / "run")
    assert task.weak_count == len(told)
    train(task, recipe, tmp_path / "run")
    assert saved.is_extractor(tmp_path / "run")


def test_a_file_is_read_as_it_was_written(tmp_path: Path):
    told = [Telling("I have a cat.", "I have a cat.", gold=False), Telling("hm ☕", "", gold=False)]
    for name in ("told.jsonl", "told.jsonl.gz"):
        write_tellings(tmp_path / name, told)
        assert read_tellings(tmp_path / name) == told


def test_a_broken_or_missing_file_is_one_sentence(tmp_path: Path):
    with pytest.raises(AllearsError, match="make it with `allears persona label TEACHER"):
        read_tellings(tmp_path / "told.jsonl")
    (tmp_path / "told.jsonl").write_text(json.dumps({"utterance": "hm"}) + "\n")
    with pytest.raises(AllearsError, match="line 1: expected an utterance and its persona"):
        read_tellings(tmp_path / "told.jsonl")


def test_another_run_is_no_teacher(tmp_path: Path):
    (tmp_path / "model.json").write_text('{"kind": "reader"}')
    with pytest.raises(AllearsError, match="this is no teacher"):
        teacher.load(tmp_path)
