"""Training the extractor: batches, resuming, what is measured, what is saved, and wrong recipes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from persona_models import save_small_encoder, write_corpora

from allears.errors import AllearsError
from allears.models.extractor import saved
from allears.training.loop import train
from allears.training.persona.task import PersonaTask
from allears.training.recipe import Recipe, read_recipe
from allears.training.tasks import make_task
from resuming import expect_the_same_end
from tiny_models import tiny_selector

RECIPE = Path(__file__).parents[3] / "recipes" / "persona-extractor.toml"


@pytest.fixture
def recipe(tmp_path: Path) -> Callable[..., Recipe]:
    write_corpora(tmp_path / "data")
    save_small_encoder(tmp_path / "encoder")
    small = (
        f'data.root="{tmp_path / "data"}"',
        f'model.encoder="{tmp_path / "encoder"}"',
        "model.layers=2",
        "limits.utterance_tokens=24",
        "limits.persona_tokens=16",
        "training.batch=16",
        "training.epochs=2",
    )
    return lambda *changes: read_recipe(RECIPE, [*small, *changes])


def make(recipe: Recipe, folder: Path) -> PersonaTask:
    task = make_task(recipe, folder)
    assert isinstance(task, PersonaTask)
    return task


def test_batches_follow_from_seed_and_epoch_and_turn_to_gold(recipe, tmp_path):
    wanted = recipe("data.gold_share=[0.25, 0.75]", "training.epochs=3")
    task, again = make(wanted, tmp_path), make(wanted, tmp_path)
    for epoch, share in ((0, 4), (1, 8), (2, 12)):
        batches = task.batches(epoch)
        assert batches == again.batches(epoch)
        assert len(batches) == len(task.batches(0))
        for batch in batches:
            assert len(batch) == 16
            assert sum(row < task.gold_count for row in batch) == share


def test_every_example_is_seen_about_equally_often(recipe, tmp_path):
    task = make(recipe("training.epochs=8"), tmp_path)
    seen = [row for epoch in range(8) for batch in task.batches(epoch) for row in batch]
    counts = [seen.count(row) for row in range(len(task.train))]
    for rows in (counts[: task.gold_count], counts[task.gold_count :]):
        assert max(rows) - min(rows) <= 1


def test_training_learns_and_saves_an_extractor(recipe, tmp_path):
    wanted = recipe(
        "training.epochs=12", "training.learning_rate=2e-3", "training.head_learning_rate=2e-3", "loss.framing_price=50"
    )  # fmt: skip
    metrics = train(make(wanted, tmp_path / "run"), wanted, tmp_path / "run")
    assert metrics["f1"] > 95
    assert metrics["rouge_l"] > 60
    assert metrics["unsupported"] < 5
    extractor = saved.load(tmp_path / "run")
    assert extractor.card.threshold == metrics["threshold"]
    assert extractor.extract(["do you have a boat in oslo?"]) == [()]
    assert extractor.extract(["hello, i work on a boat today, and you?"])[0]


def test_the_held_out_turns_choose_nothing(recipe, tmp_path, monkeypatch):
    task = make(recipe(), tmp_path)
    before = task.evaluate(torch.device("cpu"))
    task.held_out = task.held_out[:3]
    after = task.evaluate(torch.device("cpu"))
    assert (before["score"], before["threshold"]) == (after["score"], after["threshold"])


def test_no_dialogue_that_is_measured_is_trained_on(recipe, tmp_path):
    task = make(recipe(), tmp_path)
    assert task.gold_count + len(task.tuning) + len(task.held_out) == 40 * 2 * 4


def test_a_resumed_run_ends_with_the_same_weights(recipe, tmp_path):
    wanted = recipe("training.save_every=5", "data.valid_limit=4")
    expect_the_same_end(make, wanted, tmp_path, stop_after=12)


def test_an_extractor_can_share_a_rankers_encoder(recipe, tmp_path):
    ranker = tiny_selector(tmp_path / "ranker")
    wanted = recipe("model.encoder=", f'model.start="{tmp_path / "ranker"}"', "model.heads=4")
    task = make(wanted, tmp_path)
    for mine, theirs in zip(task.model.encoder.parameters(), ranker.model.encoder.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_an_extractor_goes_on_from_an_extractor(recipe, tmp_path):
    first = make(recipe(), tmp_path)
    first.save(tmp_path / "first")
    second = make(
        recipe("training.seed=5", "model.encoder=", f'model.start="{tmp_path / "first"}"'), tmp_path
    )
    theirs = first.model.state_dict()
    assert all(torch.equal(value, theirs[key]) for key, value in second.model.state_dict().items())


def test_the_shipped_extractor_has_at_most_eight_million_weights_of_its_own():
    from allears.nn.decoder import Decoder

    decoder = Decoder(384, 30522, longest=48)
    assert sum(each.numel() for each in decoder.parameters()) < 8_000_000


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("heads.names=[]", "unknown key heads; the tables are data, limits, loss, model"),
        ("data.gold_share=[0.5]", "two numbers from 0 to 1"),
        ("data.gold_share=[0.5, 2]", "two numbers from 0 to 1"),
        ("model.encoder=", r"\[model\] needs `encoder`"),
        ("model.heads=5", "must divide the encoder's width of 48, got 5"),
        ("limits.persona_tokens=0", "at least 1"),
        ("data.root=/nowhere", "no such file or folder"),
    ],
)
def test_a_wrong_recipe_is_one_sentence(recipe, tmp_path, change, sentence):
    with pytest.raises(AllearsError, match=sentence):
        make(recipe(change), tmp_path)
