"""Runs and measurements are made once, go on after a kill, and are made anew when what they depend on changes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.numpy import load_file

from allears.errors import AllearsError
from allears.experiments import fingerprints
from allears.experiments.contract import Run, measure
from allears.experiments.lab import FINISHED, Lab
from allears.training.display import Display

TINY = Run("tiny-run", "tiny")
Make = Callable[..., Lab]


def test_a_run_is_trained_once_and_measured_once(lab: Make, said: list[str]) -> None:
    asked = measure("selection", TINY, corpus="ed", split="valid", candidates=10)
    first = lab().measured(asked)
    assert said == ["training tiny-run", "measuring tiny-run: selection"]
    assert lab().measured(asked) == first
    assert len(said) == 2


def test_a_changed_key_of_the_recipe_is_another_run(lab: Make) -> None:
    changed = Run("tiny-run", "tiny", ("training.epochs=2",))
    assert lab().place_of(TINY) != lab().place_of(changed)


def test_a_changed_recipe_file_is_another_run(lab: Make, tmp_path: Path) -> None:
    before = lab().key(TINY)
    recipe = tmp_path / "recipes" / "tiny.toml"
    recipe.write_text(recipe.read_text().replace("batch = 8", "batch = 4"))
    assert lab().key(TINY) != before


def test_a_changed_corpus_is_another_run_and_another_measurement(lab: Make, corpus_root: Path) -> None:
    asked = measure("statistics", corpus="ed", split="train")
    before = lab().key(TINY), lab().measurement_key(asked)
    table = corpus_root / "empatheticdialogues" / "train.csv"
    table.write_text(table.read_text().replace("lost my cat", "lost my hat"))
    after = lab().key(TINY), lab().measurement_key(asked)
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_a_run_that_starts_from_a_changed_run_is_another_run(lab: Make) -> None:
    on_this, on_that = (
        Run("next", "tiny", uses=(("model.start", Run("base", "tiny", changes)),))
        for changes in ((), ("training.seed=2",))
    )
    assert lab().key(on_this) != lab().key(on_that)


def test_comments_and_docstrings_do_not_change_the_codes_fingerprint_but_statements_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprints, "PACKAGE", tmp_path)

    def of(text: str) -> str:
        (tmp_path / "room.py").write_text(text)
        fingerprints.code_of.cache_clear()
        return fingerprints.code_of("room.py")

    plain = of('"""One."""\ndef double(x):\n    """Twice."""\n    return 2 * x\n')
    assert of("# said otherwise\ndef double(x):\n    return 2 * x  # twice\n") == plain
    assert of("def double(x):\n    return 3 * x\n") != plain
    fingerprints.code_of.cache_clear()


def test_what_a_version_of_python_adds_to_syntax_trees_does_not_change_the_fingerprint():
    tree = ast.parse("def hello(name: str) -> str:\n    return name")
    before = fingerprints._shape(tree)
    function = tree.body[0]
    function._fields = (*function._fields, "added_later")
    function.added_later = []
    assert fingerprints._shape(tree) == before
    function.added_later = [ast.Name("T")]
    assert fingerprints._shape(tree) != before


def test_a_killed_run_goes_on_at_its_checkpoint_to_the_same_weights(
    lab: Make, said: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = lab(home=tmp_path / "other").trained(TINY)
    step = Display.step

    def killed(self: Display, number: int, *rest: object) -> None:
        step(self, number, *rest)  # type: ignore[arg-type]
        if number == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(Display, "step", killed)
    with pytest.raises(KeyboardInterrupt):
        lab().trained(TINY)
    folder = lab().place_of(TINY)
    assert (folder / "checkpoint").is_dir()
    assert not (folder / FINISHED).exists()
    monkeypatch.setattr(Display, "step", step)
    said.clear()
    assert lab().trained(TINY) == folder
    assert said == ["going on with tiny-run"]
    ours, theirs = (load_file(each / "best" / "model.safetensors") for each in (folder, whole))
    assert all((ours[name] == theirs[name]).all() for name in theirs)


def test_what_failed_is_not_tried_again_in_the_same_session(lab: Make, said: list[str]) -> None:
    here, broken = lab(), Run("broken", "tiny", ("model.name=nobody",))
    for _ in range(2):
        with pytest.raises(AllearsError, match="nobody"):
            here.trained(broken)
    assert said == ["training broken"]


def test_the_command_that_trains_a_run_names_its_changes_and_what_it_starts_from(lab: Make) -> None:
    run = Run("next", "tiny", ("training.seed=2",), (("model.start", TINY),))
    assert lab().train_command(run) == (
        "allears train recipes/tiny.toml --set training.seed=2 --set model.start=runs/tiny-run --out runs/next"
    )
