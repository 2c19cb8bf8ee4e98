"""Training generators: from a recipe to a run that writes, resuming, going on from other runs, and wrong recipes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from generator_models import save_talk_encoder, talks, write_support_corpora

from allears.decoding import Settings
from allears.errors import AllearsError
from allears.models.generation import saved
from allears.models.generation.saved import MODELS
from allears.training.generation.task import GenerationTask
from allears.training.loop import parameter_groups, train
from allears.training.recipe import Recipe, read_recipe
from allears.training.tasks import make_task
from resuming import expect_the_same_end

RECIPES = Path(__file__).parents[2] / "recipes"
GENERATION = sorted(
    path
    for path in RECIPES.glob("*.toml")
    if (wanted := read_recipe(path)).task == "generation"
    and wanted.tables["model"].get("name", "pal") in MODELS
)


@pytest.fixture
def recipe(tmp_path: Path) -> Callable[..., Recipe]:
    write_support_corpora(tmp_path / "data")
    save_talk_encoder(tmp_path / "encoder")
    small = (
        f'data.root="{tmp_path / "data"}"', "data.sample=4", "model.start=", f'model.encoder="{tmp_path / "encoder"}"',
        "model.layers=2", "model.heads=4", "model.inner=2", "limits.context_tokens=48", "limits.response_tokens=12",
        "limits.persona_sentences=2", "training.batch=16", "training.epochs=2",
    )  # fmt: skip

    def read(*changes: str, name: str = "esconv-pal") -> Recipe:
        return read_recipe(RECIPES / f"{name}.toml", [*small, *changes])

    return read


def make(recipe: Recipe, folder: Path) -> GenerationTask:
    task = make_task(recipe, folder)
    assert isinstance(task, GenerationTask)
    return task


FAST = (
    "training.learning_rate=2e-3",
    "training.head_learning_rate=4e-3",
    "training.epochs=14",
    "loss.label_smoothing=0",
)


def test_training_learns_and_saves_a_generator(recipe, tmp_path):
    wanted = recipe(*FAST)
    metrics = train(make(wanted, tmp_path / "run"), wanted, tmp_path / "run")
    assert metrics["ppl"] < 1.6
    assert metrics["strategy_accuracy"] > 80
    assert metrics["bleu_2"] > 50
    generator = saved.load(tmp_path / "run")
    found = generator.generate([talks(1)[0].prompt], Settings(method="greedy"))
    assert found[0][0].text.startswith("So sorry about your")
    assert found[0][0].strategy == "Question"


def test_the_measures_are_those_of_the_saved_generator(recipe, tmp_path):
    from allears.metrics.perplexity import ppl

    task = make(recipe("data.sample=0"), tmp_path)
    found = task.evaluate(torch.device("cpu"))
    task.save(tmp_path / "run")
    generator = saved.load(tmp_path / "run")
    prompts = [example.prompt for example in task.valid]
    likely = generator.log_likelihood(prompts, [example.response for example in task.valid])
    expected = ppl([-each.log_probability for each in likely], [each.tokens for each in likely])
    assert found["ppl"] == pytest.approx(expected, rel=1e-4)
    first = [each[0][0] for each in generator.strategies(prompts)]
    right = sum(mine == prompt.strategy for mine, prompt in zip(first, prompts, strict=True))
    assert found["strategy_accuracy"] == pytest.approx(100 * right / len(prompts))


@pytest.mark.parametrize("path", GENERATION, ids=lambda path: path.stem)
def test_every_recipe_builds_its_model(path, recipe, tmp_path):
    pretraining = path.stem == "generator-pretrain"
    changes = ('data.train=["esconv"]', "data.weights=[1.0]", "data.valid=pesconv") if pretraining else ()
    if path.stem == "esconv-distilled":
        changes = ('data.train=["pesconv-train.jsonl"]', "data.weights=[1.0]")
    task = make(recipe(*changes, name=path.stem), tmp_path)
    assert type(task.model) is MODELS[task.card.name]
    assert task.card.strategy_first is not pretraining
    assert read_recipe(path).training.metric in task.evaluate(torch.device("cpu"))


def test_every_generator_has_a_recipe():
    assert {read_recipe(path).tables["model"]["name"] for path in GENERATION} == set(MODELS)


def test_the_series_of_the_paper_starts_from_one_pretraining(recipe, tmp_path):
    first = recipe(
        'data.train=["esconv"]', "data.weights=[1.0]", "data.valid=pesconv", name="generator-pretrain"
    )
    task = make(first, tmp_path)
    task.save(tmp_path / "first")
    for name in ("esconv-pal", "esconv-joint", "esconv-hard-prompt"):
        second = make(
            recipe("model.encoder=", f'model.start="{tmp_path / "first"}"', "training.seed=9", name=name),
            tmp_path,
        )
        theirs = task.model.state_dict()
        for key, value in second.model.state_dict().items():
            assert torch.equal(value, theirs[key]), key


def test_a_resumed_run_ends_with_the_same_weights(recipe, tmp_path):
    wanted = recipe("training.save_every=3", "data.sample=0", "model.dropout=0.2")
    expect_the_same_end(make, wanted, tmp_path, stop_after=8)


def test_a_frozen_encoder_stays_as_it_is(recipe, tmp_path):
    wanted = recipe("training.learning_rate=0", "training.epochs=1", "data.sample=0")
    task = make(wanted, tmp_path)
    before = {name: value.clone() for name, value in task.model.state_dict().items()}
    train(task, wanted, tmp_path / "run")
    changed = {
        name for name, value in task.model.state_dict().items() if not torch.equal(value, before[name])
    }
    assert changed
    assert all(
        name.startswith(("decoder.", "dialogue_norm.", "persona_norm.", "weights")) for name in changed
    )
    assert "decoder.strategies.weight" in changed


def test_shared_words_are_not_trained_by_the_decoder(recipe, tmp_path):
    for own, expected in ((False, False), (True, True)):
        task = make(recipe(f"model.own_words={str(own).lower()}", "training.learning_rate=0"), tmp_path)
        parameter_groups(task.model, task.options)
        batch = task.train.batch(task.batches(0)[0])
        decoder = task.model.decoder
        memory = task.model.read(batch.context, batch.persona)
        likely, _ = decoder.likelihood(batch.targets, memory, decoder.table(task.model.encoder))
        likely.sum().backward()
        learns = {name for name, value in task.model.named_parameters() if value.grad is not None}
        assert ("decoder.own.weight" in learns) is expected
        assert not any(name.startswith("encoder") for name in learns)


def test_a_generator_can_share_a_rankers_encoder(recipe, tmp_path):
    from tiny_models import tiny_selector

    ranker = tiny_selector(tmp_path / "ranker")
    task = make(recipe("model.encoder=", f'model.start="{tmp_path / "ranker"}"'), tmp_path)
    for mine, theirs in zip(task.model.encoder.parameters(), ranker.model.encoder.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_without_dropout_no_persona_is_hidden(recipe, tmp_path):
    task = make(recipe("data.persona_dropout=0"), tmp_path)
    shown: list[bool] = []
    read = task.model.read

    def look(context, persona):
        shown.extend(persona.mask.any(-1).tolist())
        return read(context, persona)

    task.model.read = look
    from accelerate import Accelerator

    from allears.training.workers import Workers

    workers = Workers(Accelerator(cpu=True))
    task.step(task.batches(0)[0], 0, workers, lambda loss: None)
    known = [bool(task.train.examples[row].prompt.persona) for row in task.batches(0)[0]]
    assert shown == known
    assert any(known)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("heads.names=[]", "unknown key heads; the tables are data, limits, loss, model"),
        ("data.weights=[1.0, 2.0]", "data.weights needs one number for each of the 1 corpora, got 2"),
        ("data.weights=[-1.0]", "data.weights cannot be below 0"),
        ("data.persona_dropout=1.0", "data.persona_dropout must be at least 0 and below 1"),
        ("loss.label_smoothing=1.5", "loss.label_smoothing must be at least 0 and below 1"),
        ("model.name=magic", "there is no generator 'magic'; there are: pal, joint, hard_prompt, misc"),
        ("model.encoder=", "needs one of `encoder`.*got none"),
        ("model.pretrained=facebook/bart", "needs one of `encoder`.*got encoder and pretrained"),
        ("model.heads=5", "must divide the encoder's width of 32, got 5"),
        ("model.mixture=stirred", "one of joined, aligned"),
        (
            "limits.context_tokens=99",
            "context_tokens asks for 99 tokens at once, but the encoder reads at most 64",
        ),
        ("limits.persona_sentences=9", "asks for 208 tokens at once"),
        ("data.root=/nowhere", "no such file"),
    ],
)
def test_a_wrong_recipe_is_one_sentence(recipe, tmp_path, change, sentence):
    with pytest.raises(AllearsError, match=sentence):
        make(recipe(change), tmp_path)


def test_a_longer_reply_than_the_start_has_learned_is_one_sentence(recipe, tmp_path):
    make(recipe(), tmp_path).save(tmp_path / "first")
    with pytest.raises(
        AllearsError, match=r"response_tokens is 20, but the run of model\.start has learned to write 12"
    ):
        make(
            recipe("model.encoder=", f'model.start="{tmp_path / "first"}"', "limits.response_tokens=20"),
            tmp_path,
        )
