"""Readers that teach a reader: who may speak about which reading, and what is learned from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from allears.conversation import Role, Turn
from allears.corpora.heads import head
from allears.errors import AllearsError
from allears.models.reader import saved
from allears.text.reading import Reading
from allears.training.loop import train
from allears.training.recipe import Recipe, read_recipe
from allears.training.tasks import make_task
from allears.training.understanding import teachers
from allears.training.understanding.losses import label_loss
from allears.training.understanding.task import UnderstandingTask
from allears.training.understanding.teachers import Teachers, is_left_out, teach
from resuming import expect_the_same_end


@pytest.fixture
def recipe(tmp_path: Path, corpus_root: Path, tiny_encoder: Path) -> Callable[..., Recipe]:
    path = tmp_path / "recipe.toml"
    path.write_text(f"""task = "understanding"
[data]
root = "{corpus_root}"
[heads]
names = ["ed-emotion", "ed-emotion-turns"]
[model]
encoder = "{tiny_encoder}"
[training]
epochs = 2
batch = 4
learning_rate = 2e-3
metric = "accuracy"
""")
    return lambda *changes: read_recipe(path, changes)


def make(recipe: Recipe, folder: Path) -> UnderstandingTask:
    task = make_task(recipe, folder)
    assert isinstance(task, UnderstandingTask)
    return task


def a_teacher(recipe: Callable[..., Recipe], folder: Path, part: str) -> str:
    wanted = recipe(f"data.left_out={part}")
    train(make(wanted, folder), wanted, folder)
    return str(folder)


def said(text: str, conversation: str = "") -> Reading:
    return Reading((Turn(Role.SEEKER, text),), conversation=conversation)


def test_every_reading_is_in_one_part():
    readings = [said(f"day {number}") for number in range(300)]
    parts = np.array([[is_left_out(each, f"{k}/3") for each in readings] for k in (1, 2, 3)])
    assert (parts.sum(0) == 1).all()
    assert (parts.sum(1) > 60).all()


def test_a_conversation_stays_whole():
    readings = [said(f"turn {number}", "one conversation") for number in range(20)]
    assert len({is_left_out(each, "1/2") for each in readings}) == 1


@pytest.mark.parametrize("part", ["0/3", "4/3", "third", "1/0", "1"])
def test_a_part_that_is_none_is_one_sentence(part: str):
    with pytest.raises(AllearsError, match=r"data\.left_out is a part such as"):
        is_left_out(said("hello"), part)


def test_what_is_left_out_is_not_learned_and_is_on_the_card(recipe: Callable[..., Recipe], tmp_path: Path):
    whole = make(recipe(), tmp_path / "whole")
    folder = a_teacher(recipe, tmp_path / "teacher", "1/2")
    part = make(recipe("data.left_out=1/2"), tmp_path / "part")
    everything = {reading.conversation for reading in whole.train[0].readings}
    learned = {reading.conversation for reading in part.train[0].readings}
    assert learned < everything
    assert not any(is_left_out(reading, "1/2") for reading in part.train[0].readings)
    assert saved.load(folder).card.left_out == "1/2"


def test_a_teacher_speaks_only_about_what_it_has_not_learned(recipe: Callable[..., Recipe], tmp_path: Path):
    folder = a_teacher(recipe, tmp_path / "teacher", "1/2")
    data = make(recipe(), tmp_path / "whole").train[0]
    emotion = head("ed-emotion")
    targets = Teachers([folder], 0.5).targets(emotion, data)
    unknown = np.array([is_left_out(reading, "1/2") for reading in data.readings])
    assert unknown.any()
    assert not unknown.all()
    np.testing.assert_array_equal(targets[~unknown], data.gold[~unknown])
    expected = saved.load(folder).probabilities(emotion, data.readings)
    np.testing.assert_allclose(
        targets[unknown], 0.5 * data.gold[unknown] + 0.5 * expected[unknown], atol=1e-5
    )


def test_teachers_of_all_parts_are_averaged(recipe: Callable[..., Recipe], tmp_path: Path):
    runs = [a_teacher(recipe, tmp_path / f"teacher-{k}", part) for k, part in enumerate(["", "1/2", "2/2"])]
    data = make(recipe(), tmp_path / "whole").train[0]
    targets = Teachers(runs, 1.0).targets(head("ed-emotion"), data)
    np.testing.assert_allclose(targets.sum(1), 1, atol=1e-5)
    each = [saved.load(run).probabilities(head("ed-emotion"), data.readings) for run in runs]
    first = np.array([is_left_out(reading, "1/2") for reading in data.readings])
    np.testing.assert_allclose(targets, (each[0] + np.where(first[:, None], each[1], each[2])) / 2, atol=1e-5)


def test_a_head_that_no_teacher_has_learns_from_gold(recipe: Callable[..., Recipe], tmp_path: Path):
    wanted = recipe('heads.names=["ed-emotion"]')
    folder = tmp_path / "teacher"
    train(make(wanted, folder), wanted, folder)
    data = make(recipe(), tmp_path / "whole").train[1]
    targets = Teachers([str(folder)], 0.5).targets(head("ed-emotion-turns"), data)
    np.testing.assert_array_equal(targets, data.gold)


def test_teachers_are_asked_once(
    recipe: Callable[..., Recipe], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = a_teacher(recipe, tmp_path / "teacher", "")
    task = make(recipe(), tmp_path / "student")
    kept = tmp_path / "student" / "taught.npz"
    teach([folder], 0.5, task.heads, task.train, kept)
    first = [data.targets(range(len(data))) for data in task.train]

    def forgotten(*arguments: object, **options: object) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(teachers, "Teachers", forgotten)
    again = make(recipe(), tmp_path / "other")
    teach([folder], 0.5, again.heads, again.train, kept)
    for one, other in zip(first, again.train, strict=True):
        torch.testing.assert_close(one, other.targets(range(len(other))))
    with pytest.raises(AssertionError, match="asked again"):  # another share is another question
        teach([folder], 0.4, again.heads, again.train, kept)


def test_a_taught_reader_learns_its_teachers_answers(recipe: Callable[..., Recipe], tmp_path: Path):
    """A teacher that says one thing to everything is believed when gold does not count."""
    folder = tmp_path / "teacher"
    teacher = make(recipe(), folder)
    with torch.no_grad():
        for name in ("ed-emotion", "ed-emotion-turns"):
            teacher.model.heads[name][-1].weight.zero_()
            teacher.model.heads[name][-1].bias.fill_(-9).index_fill_(0, torch.tensor([3]), 9)
    teacher.save(folder / "best")
    wanted = recipe(f'heads.teachers=["{folder}"]', "heads.taught=1.0", "training.epochs=6")
    task = make(wanted, tmp_path / "student")
    train(task, wanted, tmp_path / "student")
    likely = saved.load(tmp_path / "student").probabilities(head("ed-emotion"), task.valid[0].readings)
    assert (likely.argmax(1) == 3).all()


def test_a_killed_run_goes_on_to_the_same_end(recipe: Callable[..., Recipe], tmp_path: Path):
    folder = a_teacher(recipe, tmp_path / "teacher", "1/2")
    wanted = recipe(f'heads.teachers=["{folder}"]', "training.save_every=1")
    expect_the_same_end(make, wanted, tmp_path, stop_after=5)


def test_a_share_beyond_one_is_one_sentence(recipe: Callable[..., Recipe], tmp_path: Path):
    wanted = recipe('heads.teachers=["nowhere"]', "heads.taught=1.5")
    with pytest.raises(AllearsError, match=r"heads\.taught is a share between 0 and 1"):
        make(wanted, tmp_path / "student")


def test_whole_shares_cost_what_labels_cost():
    logits = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    gold = torch.nn.functional.one_hot(torch.tensor([0, 1, 2, 3, 4, 0]), 5).float()
    by_label = torch.nn.functional.cross_entropy(logits, gold.argmax(-1), label_smoothing=0.1)
    torch.testing.assert_close(label_loss(logits, gold, multi_label=False, smoothing=0.1), by_label)


def test_narrower_further_layers_are_saved_and_opened(recipe: Callable[..., Recipe], tmp_path: Path):
    wanted = recipe("model.further=1", "model.further_inner=12")
    task = make(wanted, tmp_path / "run")
    train(task, wanted, tmp_path / "run")
    found = saved.load(tmp_path / "run")
    assert found.model.further is not None
    assert found.model.further.layers[0].wide.out_features == 12
    assert replace(found.card, options={}) != found.card
