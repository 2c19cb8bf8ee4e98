"""Every recipe in recipes/ can be trained: its keys are known and its options build its model."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allears.conversation import Example, Persona, PersonaSentence, Role, Turn
from allears.corpora.heads import HEADS
from allears.models.selection import saved
from allears.models.selection.saved import ENCODER_MODELS, WORD_MODELS
from allears.text.reading import Reading
from allears.training.recipe import parse, read_recipe
from allears.training.selection.task import NegativeOptions, SelectionTask
from allears.training.tasks import make_task
from allears.training.understanding.task import UnderstandingTask
from tiny_models import tiny_encoder, tiny_tokenizer

RECIPES = sorted((Path(__file__).parent.parent / "recipes").glob("*.toml"))
KNOWN = WORD_MODELS | ENCODER_MODELS
every_recipe = pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
TASKS = {path: read_recipe(path).task for path in RECIPES}


def recipes_of(task: str) -> pytest.MarkDecorator:
    chosen = [path for path in RECIPES if TASKS[path] == task]
    return pytest.mark.parametrize("path", chosen, ids=lambda path: path.stem)


def made_up_examples(*_: Any, **__: Any) -> list[Example]:
    return [
        Example(
            context=(Turn(Role.SEEKER, f"my cat was lost {number}"),),
            response=Turn(Role.SUPPORTER, "so sorry"),
            persona=Persona((PersonaSentence("my dog is my friend"),)),
        )
        for number in range(4)
    ]


@recipes_of("understanding")
def test_its_heads_are_known_and_build_a_reader(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "allears.training.understanding.building"
    monkeypatch.setattr(f"{module}.load_encoder", lambda name: tiny_encoder(num_hidden_layers=12))
    monkeypatch.setattr(f"{module}.encoder_tokenizer", lambda name: tiny_tokenizer(tmp_path))
    turns = (Turn(Role.SEEKER, "my cat was lost"), Turn(Role.SUPPORTER, "so sorry"))
    monkeypatch.setattr(
        "allears.corpora.heads.Head.read", lambda self, *_, **__: [Reading(turns, (self.labels[0],))]
    )
    monkeypatch.setattr(
        "allears.training.safety.harmless.everyday_messages", lambda *_, **__: ["my cat was lost"]
    )
    recipe = read_recipe(path)
    model, heads = dict(recipe.tables["model"]), dict(recipe.tables["heads"])
    if model.pop("start", ""):
        model["encoder"] = "the other run's"
        # the others would be that run's
        assert {*heads.pop("learned", []), *heads.pop("pointing", [])} <= set(heads["names"])
        if model.get("further"):  # they read layers that then learn as well
            model.pop("frozen", "")
    model.pop("read_with", "")  # a bundle exported from that run
    heads.pop("teachers", "")  # other runs
    task = make_task(replace(recipe, tables=recipe.tables | {"model": model, "heads": heads}), tmp_path)
    assert isinstance(task, UnderstandingTask)
    assert set(task.model.heads) == set(recipe.tables["heads"]["names"]) <= set(HEADS)
    assert recipe.training.metric in ("accuracy", "rationale_f1")


@recipes_of("selection")
def test_its_options_build_its_model(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "allears.training.selection.task"
    monkeypatch.setattr(f"{module}.split_examples", made_up_examples)
    monkeypatch.setattr(f"{module}.load_encoder", lambda name: tiny_encoder())
    monkeypatch.setattr(f"{module}.encoder_tokenizer", lambda name: tiny_tokenizer(tmp_path))
    recipe = read_recipe(path)
    model = dict(recipe.tables["model"])
    if model.pop("start", ""):  # another recipe's run: the encoder in it stands for all of it
        model["encoder"] = "the other run's"
    model.pop("vectors", "")  # a file among the corpora
    parse(NegativeOptions, recipe.tables.get("negatives", {}), "negatives")
    elsewhere = ("negatives", "prepend")  # they need other runs, and a classifier fitted on a corpus
    tables = {name: table for name, table in recipe.tables.items() if name not in elsewhere}
    task = make_task(replace(recipe, tables=tables | {"model": model}), tmp_path)
    assert isinstance(task, SelectionTask)
    assert type(task.model) is saved.model_class(model["name"])
    assert task.card.options.keys() == model.get("options", {}).keys()


def test_every_model_has_a_recipe() -> None:
    selection = [path for path in RECIPES if TASKS[path] == "selection"]
    assert {read_recipe(path).tables["model"]["name"] for path in selection} == set(KNOWN)


@every_recipe
def test_what_it_builds_on_is_another_recipes_run(path: Path) -> None:
    tables = read_recipe(path).tables
    negatives = tables.get("negatives", {})
    runs = [tables.get("model", {}).get("start"), negatives.get("mine_with"), negatives.get("teacher")]
    known = {f"runs/{other.stem}" for other in RECIPES if other != path}
    known |= {"default", *(f"src/allears/bundles/{name}" for name in ("default", "smollm2"))}  # what ships
    whole = {run.partition("/best/")[0] for run in runs if run}  # a joint run's part lies in its best/
    seeds = {
        re.sub(r"(-strategy|-risk)?-\d$", "", run)  # the same recipe, other seeds, one head alone
        for run in (*negatives.get("teachers", []), *tables.get("heads", {}).get("teachers", []))
    }
    assert whole | seeds <= known


@recipes_of("joint")
def test_its_parts_are_recipes_whose_changes_are_understood(path: Path) -> None:
    for part in read_recipe(path).tables["parts"]:
        other = path.parent.parent / part["recipe"]
        assert other in RECIPES
        assert read_recipe(other, part.get("set", ())).task in {
            "selection",
            "understanding",
            "persona-extraction",
            "generation",
        }


@every_recipe
def test_it_begins_by_saying_what_it_is(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ")
    assert first.endswith((".", ":"))
