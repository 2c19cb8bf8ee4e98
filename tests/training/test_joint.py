"""Several tasks on one encoder: they share it, take turns, are measured and saved each under its name."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from allears.errors import AllearsError
from allears.models.reader import saved as reader
from allears.models.selection import saved as ranker
from allears.training.joint import ROWS, JointTask
from allears.training.loop import parameter_groups, train
from allears.training.recipe import Recipe, read_recipe
from allears.training.tasks import make_task


@pytest.fixture
def joint(tmp_path: Path, recipe_file: Path, corpus_root: Path, tiny_encoder: Path):
    """A joint recipe of a ranker, the same ranker on other data, and a reader with two heads."""
    reading = tmp_path / "reading.toml"
    reading.write_text(f"""task = "understanding"
[data]
root = "{corpus_root}"
[heads]
names = ["ed-emotion", "ed-emotion-turns"]
[model]
encoder = "{tiny_encoder}"
[training]
batch = 8
metric = "accuracy"
""")
    path = tmp_path / "joint.toml"
    path.write_text(f"""task = "joint"
[[parts]]
name = "ranker"
recipe = "{recipe_file}"
[[parts]]
name = "early"
recipe = "{recipe_file}"
set = ["data.train_limit=24", "training.batch=8"]
model_of = "ranker"
[[parts]]
name = "reader"
recipe = "{reading}"
rounds = 2.5
weight = 0.5
[training]
epochs = 2
accumulate = 4
learning_rate = 2e-3
metric = "score"
""")
    return lambda *changes: read_recipe(path, changes)


def make(recipe: Recipe, folder: Path) -> JointTask:
    task = make_task(recipe, folder)
    assert isinstance(task, JointTask)
    return task


def test_all_parts_hold_one_encoder_and_its_weights_are_counted_once(joint, tmp_path):
    task = make(joint(), tmp_path)
    first, early, third = (part.model for part in task.tasks)
    assert early is first
    assert third.encoder is first.encoder
    listed = [p for group in parameter_groups(task.model, joint().training) for p in group["params"]]
    assert len(listed) == len({id(p) for p in listed})
    assert {id(p) for p in first.parameters()} | {id(p) for p in third.parameters()} == {
        id(p) for p in listed
    }


def test_batches_are_each_of_one_part_and_evenly_mixed(joint, tmp_path):
    task = make(joint(), tmp_path)
    batches = task.batches(1)
    assert batches == make(joint(), tmp_path).batches(1)
    parts = [batch[0] // ROWS for batch in batches]
    for batch, part in zip(batches, parts, strict=True):
        assert {row // ROWS for row in batch} == {part}
    wanted = [len(task.tasks[0].batches(0)), len(task.tasks[1].batches(0))]
    assert [parts.count(0), parts.count(1)] == wanted
    half = parts[: len(parts) // 2].count(2)
    assert abs(half - parts.count(2) / 2) <= 1


def test_a_parts_own_epochs_follow_one_another_unbroken(joint, tmp_path):
    task = make(joint(), tmp_path)
    own = [batch for epoch in range(5) for batch in task.tasks[2].batches(epoch)]
    seen = [
        [row - 2 * ROWS for row in batch]
        for epoch in (0, 1)
        for batch in task.batches(epoch)
        if batch[0] >= 2 * ROWS
    ]
    assert seen == own  # 2 joint epochs of 2.5 rounds


def test_training_measures_and_saves_every_part(joint, tmp_path):
    wanted = joint()
    found = train(make(wanted, tmp_path / "run"), wanted, tmp_path / "run")
    mean = (found["ranker.recall_at_1"] + found["early.recall_at_1"] + found["reader.accuracy"]) / 3
    assert found["score"] == pytest.approx(mean)
    ranking = ranker.load(tmp_path / "run" / "best" / "ranker").model
    reading = reader.load(tmp_path / "run" / "best" / "reader").model
    for one, other in zip(ranking.encoder.parameters(), reading.encoder.parameters(), strict=True):
        assert torch.equal(one, other)
    assert not (tmp_path / "run" / "best" / "early").exists()


def test_a_parts_weight_scales_its_gradient(joint, tmp_path):
    from accelerate import Accelerator

    from allears.training.workers import Workers

    task = make(joint(), tmp_path)
    batch = next(batch for batch in task.batches(0) if batch[0] >= 2 * ROWS)
    scaled: list[torch.Tensor] = []
    loss = task.step(batch, 0, Workers(Accelerator(cpu=True)), lambda value: scaled.append(value.detach()))
    assert scaled[0] == pytest.approx(0.5 * float(loss))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("parts=[]", "lists its parts"),
        ("data.root=x", "unknown key data"),
        ('parts=[{name="a", recipe="x.toml", model_of="b"}]', "'b' is not an earlier part"),
        ('parts=[{name="a", recipe="x.toml"}, {name="a", recipe="y.toml"}]', "same name"),
        ('parts=[{name="a", recipe="x.toml", rounds=0.0}]', "rounds must be above 0"),
        ('parts=[{name="a", recipe="nowhere.toml"}]', "nowhere.toml: no such recipe"),
        ('parts=[{name="a", recipes="x.toml"}]', "did you mean 'recipe'"),
    ],
)
def test_a_wrong_joint_recipe_is_one_sentence(joint, tmp_path, change, sentence):
    with pytest.raises(AllearsError, match=sentence):
        make_task(joint(change), tmp_path)
