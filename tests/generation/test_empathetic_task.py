"""Training empathetic generators from their recipes: they learn, are measured, saved, resumed and loaded again."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from allears.decoding import Settings
from allears.errors import AllearsError
from allears.labels import ED_EMOTIONS, MECHANISMS
from allears.models.generation import saved
from allears.models.generation.empathetic import parameter_count
from allears.models.generation.empathetic_saved import EMPATHETIC_MODELS, empathetic_class
from allears.runtime.generator import NamesEmotion
from allears.training.generation.empathetic_task import PAPER_VOCABULARY, EmpatheticTask
from allears.training.loop import train
from allears.training.recipe import read_recipe
from allears.training.tasks import make_task
from made_up_corpora import ED_HEADER, json_lines, write_bytes
from resuming import failing_after

RECIPES = Path(__file__).parents[2] / "recipes"
EMPATHETIC = sorted(
    path
    for path in RECIPES.glob("*.toml")
    if (recipe := read_recipe(path)).task == "generation"
    and recipe.tables["model"].get("name") in EMPATHETIC_MODELS
)
OURS = [path for path in EMPATHETIC if "mime" not in path.stem]  # which has tests of its own
TINY = (
    "model.vectors=", "model.start=", "model.options.size=24", "model.options.layers=1", "model.options.heads=2",
    "model.options.inner=32", "model.options.dropout=0", "training.batch=8", "training.average=0",
    "training.patience=0", "data.hidden=0", "data.sample=4",
)  # fmt: skip
LISTENERS = ("model.options.listener_depth=8", "model.options.listener_inner=16")
# what people said to the papers' names: parameters, in millions
PAPER_SIZES = {"ed-multitask": 16.95, "ed-moel": 23.10, "ed-transformer": 16.95}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    rows, labels, talks = [], [], []
    for number, emotion in enumerate(ED_EMOTIONS):
        said = [f"today I felt {emotion} again", f"why did you feel {emotion}?"]
        rows += [
            f"c{number},{turn + 1},{emotion},i felt {emotion},{turn},{text},,\n"
            for turn, text in enumerate(said)
        ]
        labels.append({"conv_id": f"c{number}", "labels": [emotion, "questioning"]})
        talks.append(
            {
                "id": f"r{number}", "emotion": emotion, "source": "own",
                "turns": [
                    {"speaker": "seeker", "text": said[0], "author": "a"},
                    {"speaker": "supporter", "text": said[1], "author": "b", "intent": "questioning"},
                ],
                "personas": {"b": [{"text": f"i am never {emotion}"}]},
                "labels": {"acts_by_turn": ["inform", "question"], **{name: {"level": 1} for name in MECHANISMS}},
            }
        )  # fmt: skip
    folder = tmp_path / "data"
    for split in ("train", "valid"):
        write_bytes(folder / "empatheticdialogues" / f"{split}.csv", (ED_HEADER + "".join(rows)).encode())
        write_bytes(folder / f"ed_turn_labels.{split}.jsonl", json_lines(*labels).encode())
        named = [{**talk, "split": split} for talk in talks]
        write_bytes(folder / f"reddit-labels-{split}.jsonl", json_lines(*named).encode())
    return folder


class Nobody:
    """A reader without an opinion, for recipes that want a classifier."""

    def probabilities(self, head, readings):
        import numpy as np

        return np.full((len(readings), len(head.labels)), 1 / len(head.labels))


class Quiet:
    """In the place of the bundle's encoder."""

    size = 384 + 32

    def __init__(self, bundle: str = "default"):
        pass

    def features(self, prompts):
        import numpy as np

        return np.ones((len(prompts), self.size), np.float32)


@pytest.fixture
def task(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("allears.models.generation.prepend.load_reading_model", lambda *_, **__: Nobody())
    monkeypatch.setattr("allears.models.generation.beside.FrozenReader", Quiet)

    def make(name: str, *changes: str, folder: str = "run"):
        recipe = read_recipe(RECIPES / f"{name}.toml", [*TINY, f"data.root={root}"])
        if "moel" in recipe.tables["model"]["name"]:
            recipe = read_recipe(RECIPES / f"{name}.toml", [*TINY, *LISTENERS, f"data.root={root}", *changes])
        else:
            recipe = read_recipe(RECIPES / f"{name}.toml", [*TINY, f"data.root={root}", *changes])
        found = make_task(recipe, tmp_path / folder)
        assert isinstance(found, EmpatheticTask)
        return found, recipe

    return make


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_every_recipe_trains_its_model_and_is_measured(path: Path, task, tmp_path: Path) -> None:
    ours = ('data.train=["ed"]',) if path.stem.endswith("-pretrain") else ()  # the other dialogue is not here
    made, recipe = task(path.stem, "training.epochs=1", *ours)
    assert type(made.model) is empathetic_class(recipe.tables["model"]["name"])
    metrics = train(made, recipe, tmp_path / "run")
    assert recipe.training.metric in metrics
    assert ("emotion_accuracy" in metrics) is getattr(made.model, "names_emotions", True)
    generator = saved.load(tmp_path / "run")
    generator._frozen = Quiet()
    found = generator.generate([made.valid[0].prompt], Settings(method="beam", width=2, longest=8))
    assert isinstance(found[0][0].text, str)


@pytest.mark.parametrize("name", PAPER_SIZES)
def test_it_is_as_large_as_the_paper_says(name: str) -> None:
    from allears.models.generation.empathetic_saved import EmpatheticCard, build_empathetic
    from allears.text.layout import Limits

    model = read_recipe(RECIPES / f"{name}.toml").tables["model"]
    card = EmpatheticCard(model["name"], Limits(), PAPER_VOCABULARY, options=model["options"])
    assert parameter_count(build_empathetic(card)) / 1e6 == pytest.approx(PAPER_SIZES[name], rel=0.1)


def test_training_learns_words_and_emotions(task, tmp_path: Path) -> None:
    made, recipe = task(
        "ed-multitask", "training.epochs=60", "training.evaluate_every=120", "training.learning_rate=1e-2"
    )
    metrics = train(made, recipe, tmp_path / "run")
    assert metrics["ppl"] < 1.5
    assert metrics["emotion_accuracy"] > 90
    generator = saved.load(tmp_path / "run")
    assert isinstance(generator, NamesEmotion)
    example = made.valid[5]
    assert generator.emotions([example.prompt])[0][0][0] == example.labels.emotion
    (reply,) = generator.generate([example.prompt], Settings(method="greedy"))[0]
    assert reply.text == f"Why did you feel {example.labels.emotion}?"


def test_the_measures_are_those_of_the_saved_generator(task, tmp_path: Path) -> None:
    from allears.metrics.perplexity import ppl

    made, _ = task("ed-moel", "data.sample=0")
    found = made.evaluate(torch.device("cpu"))
    made.save(tmp_path / "saved")
    generator = saved.load(tmp_path / "saved")
    likely = generator.log_likelihood(
        [example.prompt for example in made.valid], [example.response for example in made.valid]
    )
    expected = ppl([-each.log_probability for each in likely], [each.tokens for each in likely])
    assert found["ppl"] == pytest.approx(expected, rel=1e-4)
    first = [names[0][0] for names in generator.emotions([example.prompt for example in made.valid])]
    right = sum(name == example.labels.emotion for name, example in zip(first, made.valid, strict=True))
    assert found["emotion_accuracy"] == pytest.approx(100 * right / len(made.valid))


def test_a_resumed_run_ends_where_an_unbroken_one_ends(task, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    changes = ("training.epochs=2", "training.save_every=1", "model.options.dropout=0.2", "data.sample=0")
    whole, recipe = task("ed-moel", *changes)
    train(whole, recipe, tmp_path / "whole")
    broken, _ = task("ed-moel", *changes)
    broken.step = failing_after(broken.step, 5)
    with pytest.raises(KeyboardInterrupt):
        train(broken, recipe, tmp_path / "half")
    resumed, _ = task("ed-moel", *changes)
    train(resumed, recipe, tmp_path / "half", resume=True)
    mine, theirs = (
        load_file(tmp_path / run / "checkpoint" / "model.safetensors") for run in ("half", "whole")
    )
    assert all(torch.equal(mine[name], theirs[name]) for name in theirs)


def test_a_run_goes_on_from_another(task, tmp_path: Path) -> None:
    first, recipe = task("ed-transformer", "training.epochs=1")
    train(first, recipe, tmp_path / "run")
    other, _ = task("ed-multitask", f"model.start={tmp_path / 'run'}", folder="other")
    assert other.tokenizer.words_ == first.tokenizer.words_
    torch.testing.assert_close(other.model.words.weight, saved.load(tmp_path / "run").module.words.weight)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["model.emotions=8"], "model.emotions is one of 32, 16; got 8"),
        (["loss.gold=2"], "loss.gold is a share from 0 to 1"),
        (["model.options.wings=2"], "the moel generator cannot be built"),
        (["model.vectors=none.txt"], "model.vectors 'none.txt': no such file"),
        (["model.beside=default"], "moel has none"),
        (["model.start=runs/nowhere"], "model.start 'runs/nowhere': no such run; train it first"),
        (["data.weights=[1, 2]"], "data.weights needs one number for each of the 1 corpora"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_wrong_recipe_is_one_clear_sentence(task, changes: list[str], message: str) -> None:
    with pytest.raises(AllearsError, match=message):
        task("ed-moel", *changes)


def test_a_loss_that_a_model_does_not_have_is_named(task, tmp_path: Path) -> None:
    made, recipe = task("ed-transformer", "loss.weights.emotion=2")
    with pytest.raises(AllearsError, match="the losses of transformer are response"):
        train(made, recipe, tmp_path / "run")


def test_word_pieces_take_the_place_of_words(task, tmp_path: Path) -> None:
    from tiny_models import tiny_tokenizer

    tiny_tokenizer(tmp_path / "pieces")
    made, recipe = task("ed-multitask", f"model.vocabulary={tmp_path / 'pieces'}", "training.epochs=1")
    train(made, recipe, tmp_path / "run")
    generator = saved.load(tmp_path / "run")
    assert generator.tokenizer.size == made.tokenizer.size
    assert generator.log_likelihood([made.valid[0].prompt], ["so glad"])[0].tokens == 3
