"""Training a language model's adapter: from the recipe to a run that writes, resuming, and wrong recipes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from causal_models import save_language_model
from generator_models import talks, write_support_corpora

from allears.decoding import Settings
from allears.errors import AllearsError
from allears.models.generation.loading import load_generator
from allears.training.generation.causal_task import CausalTask
from allears.training.loop import train
from allears.training.recipe import Recipe, read_recipe
from allears.training.tasks import make_task
from resuming import expect_the_same_end

RECIPE = Path(__file__).parents[2] / "recipes" / "esconv-smollm2.toml"


@pytest.fixture
def recipe(tmp_path: Path) -> Callable[..., Recipe]:
    write_support_corpora(tmp_path / "data")
    save_language_model(tmp_path / "base")
    small = (
        f'data.root="{tmp_path / "data"}"', 'data.train=["pesconv-train.jsonl"]', "data.weights=[1.0]", "data.sample=4",
        f'model.pretrained="{tmp_path / "base"}"', "model.rank=8", "model.alpha=16", "limits.context_tokens=200",
        "limits.response_tokens=24", "limits.persona_sentences=2", "training.batch=16", "training.epochs=2",
    )  # fmt: skip

    def read(*changes: str) -> Recipe:
        return read_recipe(RECIPE, [*small, *changes])

    return read


def make(recipe: Recipe, folder: Path) -> CausalTask:
    task = make_task(recipe, folder)
    assert isinstance(task, CausalTask)
    return task


def test_training_learns_and_saves_an_adapter(recipe, tmp_path):
    fast = ("training.learning_rate=1e-2", "training.epochs=12", "training.average=0.0", "model.dropout=0.0")
    wanted = recipe(*fast, "data.sample=0", "loss.strategy=6.0", "training.schedule=constant")
    metrics = train(make(wanted, tmp_path / "run"), wanted, tmp_path / "run")
    assert metrics["ppl"] < 3.5  # frozen words
    assert metrics["strategy_accuracy"] > 60
    found = load_generator(tmp_path / "run").generate([talks(1)[0].prompt], Settings(method="greedy"))
    assert found[0][0].text.startswith("so sorry about your")


def test_the_measures_are_those_of_the_saved_adapter(recipe, tmp_path):
    from allears.metrics.perplexity import ppl

    task = make(recipe("data.sample=0"), tmp_path)
    found = task.evaluate(torch.device("cpu"))
    task.save(tmp_path / "run")
    generator = load_generator(tmp_path / "run")
    prompts = [example.prompt for example in task.valid]
    likely = generator.log_likelihood(prompts, [example.response for example in task.valid])
    expected = ppl([-each.log_probability for each in likely], [each.tokens for each in likely])
    assert found["ppl"] == pytest.approx(expected, rel=1e-2)
    first = [each[0][0] for each in generator.strategies(prompts)]
    right = sum(mine == prompt.strategy for mine, prompt in zip(first, prompts, strict=True))
    assert found["strategy_accuracy"] == pytest.approx(100 * right / len(prompts))


def test_only_what_is_saved_learns(recipe, tmp_path):
    wanted = recipe("training.epochs=1", "data.sample=0")
    task = make(wanted, tmp_path)
    before = {name: value.clone() for name, value in task.model.state_dict().items()}
    train(task, wanted, tmp_path / "run")
    changed = {
        name for name, value in task.model.state_dict().items() if not torch.equal(value, before[name])
    }
    assert changed == set(task.causal.learned())
    assert {"strategies.weight", "strategy_head.weight"} < changed
    assert all("lora_" in name or name.startswith("strateg") for name in changed)


def test_a_resumed_run_ends_with_the_same_weights(recipe, tmp_path):
    wanted = recipe("training.save_every=3", "data.sample=0", "model.dropout=0.2")
    expect_the_same_end(make, wanted, tmp_path, stop_after=5)


def test_another_run_goes_on_from_an_adapter(recipe, tmp_path):
    make(recipe(), tmp_path).save(tmp_path / "first")
    task = make(
        recipe("model.pretrained=", f'model.start="{tmp_path / "first"}"', "training.seed=9"), tmp_path
    )
    first = make(recipe(), tmp_path)
    for name, value in task.causal.learned().items():
        assert torch.allclose(value, first.causal.learned()[name], atol=1e-3), name


def test_a_hidden_persona_is_not_read(recipe, tmp_path):
    task = make(recipe(), tmp_path)
    rows = [row for row in range(len(task.train)) if len(task.train.personas[row])][:3]
    shown, hidden = task.train.batch(rows), task.train.batch(rows, [True, False, True])
    assert torch.equal(shown.targets, hidden.targets)
    told = (hidden.ids != 0).sum(1)
    full = (shown.ids != 0).sum(1)
    assert (told < full).tolist() == [True, False, True]
    for batch in (shown, hidden):  # each target is told from the place before it
        inside = batch.places + 1 < batch.ids.shape[1]
        following = batch.ids[batch.rows[inside], batch.places[inside] + 1]
        known = following != 0
        assert torch.equal(following[known], batch.targets[inside][known])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("heads.names=[]", "unknown key heads; the tables are data, limits, loss, model"),
        ("model.pretrained=", "needs one of `pretrained` .* and `start` .*; got none"),
        ("model.start=somewhere", "got pretrained and start"),
        ("model.pretrained=/nowhere/at/all", "the language model '/nowhere/at/all' cannot be loaded"),
        ("model.rank=0", "model.rank must be at least 1, got 0"),
        ("limits.context_tokens=900", r"asks for \d+ tokens at once .* reads at most 512"),
        ("model.layers=3", "unknown key model.layers"),
        ("data.weights=[1.0, 2.0]", "data.weights needs one number for each of the 1 corpora, got 2"),
    ],
)
def test_a_wrong_recipe_is_one_sentence(recipe, tmp_path, change, sentence):
    with pytest.raises(AllearsError, match=sentence):
        make(recipe(change), tmp_path)
