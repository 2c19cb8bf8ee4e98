"""EmoPrepend for retrieval models: labels in front of contexts and candidates, in training and after loading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allears.conversation import Example, Role, Turn
from allears.errors import AllearsError
from allears.models.generation.prepend import Prepend
from allears.models.selection import saved
from allears.runtime.selector import Query
from allears.training.recipe import read_recipe
from allears.training.selection.task import SelectionTask
from allears.training.tasks import make_task

RECIPE = Path(__file__).parents[2] / "recipes" / "ed-bi-encoder-emo-prepend.toml"


class Glad:
    def probabilities(self, head: Any, readings: Any) -> Any:
        found = np.zeros((len(readings), len(head.labels)))
        found[:, head.labels.index("joyful")] = 1.0
        return found


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SelectionTask:
    monkeypatch.setattr("allears.models.generation.prepend.load_reading_model", lambda *_, **__: Glad())
    examples = [
        Example(
            context=(Turn(Role.SEEKER, f"my cat {number} is back"),), response=Turn(Role.SUPPORTER, "so glad")
        )
        for number in range(4)
    ]
    monkeypatch.setattr("allears.training.selection.task.split_examples", lambda *_, **__: examples)
    changes = ["model.name=bow", "model.start=", "training.batch=2"]
    made = make_task(read_recipe(RECIPE, changes), tmp_path)
    assert isinstance(made, SelectionTask)
    return made


def test_a_word_model_learns_the_labels_as_words(task: SelectionTask) -> None:
    assert "joyful" in task.tokenizer.words_  # type: ignore[attr-defined]


def test_a_loaded_model_still_reads_labels_in_front(task: SelectionTask, tmp_path: Path) -> None:
    task.save(tmp_path / "run")
    selector = saved.load(tmp_path / "run")
    assert isinstance(selector.prepend, Prepend)
    assert selector.card.prepend == {"kind": "emotion", "count": 1, "classifier": "fasttext"}
    queries, chosen = [Query((Turn(Role.SEEKER, "my cat 1 is back"),))], np.array([[0]])
    with_labels = selector.score(queries, selector.encode_responses(["so glad"]), chosen)
    selector.prepend = None
    without = selector.score(queries, selector.encode_responses(["so glad"]), chosen)
    shown = [Query((Turn(Role.SEEKER, "joyful my cat 1 is back"),))]
    by_hand = selector.score(shown, selector.encode_responses(["joyful so glad"]), chosen)
    assert with_labels == pytest.approx(by_hand)
    assert with_labels != pytest.approx(without)


def test_a_kind_that_is_none_is_named() -> None:
    with pytest.raises(AllearsError, match=r"prepend.kind is one of emotion, topic; got 'weather'"):
        Prepend.build("weather", 1)
    with pytest.raises(AllearsError, match="a number from 1 to 32; got 40"):
        Prepend.build("emotion", 40)
