"""`allears train`: its table, and every sentence it can end with."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from allears.cli import app
from allears.cli.train import _table
from allears.errors import AllearsError
from training_fixtures import corpus_root, recipe_file, tiny_encoder  # noqa: F401 - fixtures

SHORT = ["--set", "training.epochs=1", "--set", "data.valid_limit=5"]


def run(*arguments):
    result = CliRunner().invoke(app, ["train", *map(str, arguments)], catch_exceptions=True)
    if isinstance(result.exception, AllearsError):
        raise result.exception
    return result


def test_a_recipe_is_trained_and_its_metrics_are_shown(recipe_file, tmp_path):  # noqa: F811
    result = run(recipe_file, *SHORT, "--out", tmp_path / "run")
    assert result.exit_code == 0
    assert "recall_at_1" in result.stdout
    assert (tmp_path / "run" / "best" / "model.safetensors").is_file()


def test_more_measures_than_fit_a_row_stand_below_one_another():
    few = {"recall_at_1": 60.0, "step": 3, "folder": "runs/a/best"}
    many = {**{f"head_{number}": float(number) for number in range(12)}, "folder": "runs/b/best"}
    assert [column.header for column in _table({"a": few}).columns] == [
        "run",
        "recall_at_1",
        "step",
        "saved in",
    ]
    assert [column.header for column in _table({"b": many}).columns] == ["run", "b"]
    assert _table({"b": many}).row_count == 13


def test_several_recipes_are_trained_in_order_each_in_its_own_folder(recipe_file, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    second = recipe_file.with_name("second.toml")
    text = recipe_file.read_text()
    encoder = next(line for line in text.splitlines() if line.startswith("encoder"))
    second.write_text(text.replace(encoder, 'start = "runs/recipe"'))
    result = run(recipe_file, second, *SHORT)
    assert result.exit_code == 0
    assert "runs/recipe/best" in result.stdout
    assert "runs/second/best" in result.stdout


def test_a_folder_with_a_run_in_it_is_not_overwritten_but_resumed(recipe_file, tmp_path):  # noqa: F811
    run(recipe_file, *SHORT, "--out", tmp_path / "run")
    weights = (tmp_path / "run" / "checkpoint" / "model.safetensors").read_bytes()
    with pytest.raises(AllearsError, match="a run is there already; use --resume"):
        run(recipe_file, *SHORT, "--out", tmp_path / "run")
    again = run(recipe_file, *SHORT, "--out", tmp_path / "run", "--resume")
    assert "recall_at_1" in again.stdout
    assert (tmp_path / "run" / "checkpoint" / "model.safetensors").read_bytes() == weights


def test_one_folder_for_several_recipes_is_refused(recipe_file, tmp_path):  # noqa: F811
    with pytest.raises(AllearsError, match="--out names one run folder"):
        run(recipe_file, recipe_file, "--out", tmp_path / "run")


def test_a_missing_recipe_is_named():
    with pytest.raises(AllearsError, match=r"nowhere\.toml: no such recipe"):
        run("nowhere.toml")
