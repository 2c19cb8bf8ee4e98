"""Heads that learn where a response shows what they say, on an encoder that stays as it is."""

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
from allears.evaluation.understanding import evaluate_understanding
from allears.models.reader import saved
from allears.runtime.answering import averaged
from allears.runtime.onnx_reader import OnnxReader
from allears.runtime.reader_card import READER_FILE
from allears.text.reading import Reading
from allears.training.export.bundle import add_reader
from allears.training.export.ranker import export
from allears.training.loop import train
from allears.training.recipe import Recipe, read_recipe
from allears.training.tasks import make_task
from allears.training.understanding.task import UnderstandingTask
from made_up_corpora import EPITOME_HEADER, csv_text
from tiny_models import tiny_selector

EXPLORING = head("epitome-explorations")


def write_epitome(root: Path) -> None:
    """60 pairs; whoever asks why explores, with that word."""
    for mechanism in ("emotional-reactions", "interpretations", "explorations"):
        rows = []
        for number in range(60):
            asks = number % 2 == 0
            response = f"so sorry, why did it fall on day {number}?" if asks else f"so sorry, day {number}."
            rows.append(
                [f"p{number}", f"r{number}", f"it fell {number}.", response, "2" if asks else "0",
                 "why|" if asks else ""]
            )  # fmt: skip
        (root / "epitome").mkdir(exist_ok=True)
        (root / "epitome" / f"{mechanism}-reddit.csv").write_text(csv_text(EPITOME_HEADER, *rows))


@pytest.fixture
def recipe(tmp_path: Path, corpus_root: Path) -> Callable[..., Recipe]:
    """Goes on from a ranker's encoder, which a bundle has too."""
    write_epitome(corpus_root)
    export(tiny_selector(tmp_path / "ranker"), tmp_path / "bundle")
    path = tmp_path / "recipe.toml"
    path.write_text(f"""task = "understanding"
[data]
root = "{corpus_root}"
[heads]
names = ["ed-emotion", "epitome-explorations"]
[model]
start = "{tmp_path / "ranker"}"
frozen = true
hidden = 8
[training]
epochs = 2
batch = 8
learning_rate = 1e-2
metric = "accuracy"
""")
    return lambda *changes: read_recipe(path, changes)


def learned(wanted: Recipe, folder: Path) -> dict[str, float]:
    return train(make_task(wanted, folder), wanted, folder)


@pytest.fixture
def pointing(recipe: Callable[..., Recipe], tmp_path: Path) -> tuple[Recipe, dict[str, float]]:
    """`start`, whose heads point at nothing, and `run`, in which one of them has learned to."""
    learned(recipe(), tmp_path / "start")
    wanted = recipe(
        f'model.start="{tmp_path / "start"}"', 'heads.pointing=["epitome-explorations"]',
        "training.metric=rationale_f1", "training.epochs=60", "training.learning_rate=3e-2",
    )  # fmt: skip
    return wanted, learned(wanted, tmp_path / "run")


def test_a_head_learns_to_point_and_all_labels_stay_to_the_last_bit(pointing, tmp_path: Path):
    wanted, found = pointing
    before, after = saved.load(tmp_path / "start"), saved.load(tmp_path / "run")
    assert not before.card.pointing
    assert list(after.card.pointing) == ["epitome-explorations"]
    assert after.card.temperatures == before.card.temperatures
    for name, value in before.model.state_dict().items():
        assert torch.equal(value, after.model.state_dict()[name]), name
    assert found["rationale_f1"] == found["rationale_f1_epitome-explorations"] > 90
    readings = EXPLORING.read("valid", wanted.tables["data"]["root"])
    report = evaluate_understanding(after, EXPLORING, readings)  # through the encoder, the same
    assert report.rationale_f1 == pytest.approx(found["rationale_f1"], abs=3)


def test_in_a_bundle_it_says_where_and_every_label_is_as_before(pointing, tmp_path: Path):
    add_reader(tmp_path / "bundle", saved.load(tmp_path / "start"))
    asked = Reading(
        (Turn(Role.SEEKER, "it fell 4."), Turn(Role.SUPPORTER, "so sorry, why did it fall on day 4?"))
    )
    before = OnnxReader.from_bundle(tmp_path / "bundle").answers([asked])
    add_reader(tmp_path / "bundle", saved.load(tmp_path / "run"))
    bundle = OnnxReader.from_bundle(tmp_path / "bundle")
    assert bundle.rationales(EXPLORING.name, asked) == ["why"]
    for name, likely in bundle.answers([asked]).items():
        np.testing.assert_array_equal(likely, before[name])


def test_where_is_fetched_only_if_it_is_asked_for(pointing, tmp_path: Path):
    add_reader(tmp_path / "bundle", saved.load(tmp_path / "run"))
    bundle = OnnxReader.from_bundle(tmp_path / "bundle")
    graph, asked = bundle.graphs[READER_FILE], []

    class Watched:
        def run(self, outputs: list[str], feed: dict) -> list:
            asked.append([name for name in outputs if name.endswith(".tokens")])
            return graph.run(outputs, feed)

    bundle.graphs = {READER_FILE: Watched()}  # type: ignore[dict-item]
    pair = Reading((Turn(Role.SEEKER, "it fell."), Turn(Role.SUPPORTER, "why?")))
    bundle.from_states(np.zeros((1, 3, bundle.card.size)), np.ones((1, 3)))
    bundle.answers([pair])
    bundle.probabilities(head("ed-emotion"), [pair])
    assert asked == [[], [], []]
    bundle.rationales(EXPLORING.name, pair)
    assert asked[3:] == [["epitome-explorations.tokens"]]


def test_a_score_is_the_mean_of_its_neighbours_within_the_response():
    scores = np.array([6.0, 0.0, 0.0, -3.0])
    np.testing.assert_allclose(averaged(scores, 3), [3.0, 2.0, -1.0, -1.5])
    np.testing.assert_array_equal(averaged(scores, 1), scores)
    assert averaged(np.zeros(0), 5).shape == (0,)


def test_a_window_mends_torn_phrases_in_torch_and_in_a_bundle(pointing, tmp_path: Path):
    trained = saved.load(tmp_path / "run")
    wide = saved.TorchReader(trained.model, replace(trained.card, window=3), trained.tokenizer)
    add_reader(tmp_path / "bundle", wide)
    bundle = OnnxReader.from_bundle(tmp_path / "bundle")
    assert bundle.card.window == 3
    asked = Reading(
        (Turn(Role.SEEKER, "it fell 4."), Turn(Role.SUPPORTER, "so sorry, why did it fall on day 4?")),
        rationales=("why did",),
    )
    found = wide.rationales(EXPLORING.name, asked, threshold=0.01)
    assert found != trained.rationales(EXPLORING.name, asked, threshold=0.01)
    assert bundle.rationales(EXPLORING.name, asked, threshold=0.01) == found
    assert bundle.rationale_scores(EXPLORING, [asked]) == pytest.approx(
        wide.rationale_scores(EXPLORING, [asked])
    )


def test_pointing_is_also_measured_where_there_is_something_to_point_at(pointing, tmp_path: Path):
    reader = saved.load(tmp_path / "run")
    with torch.no_grad():
        reader.model.pointers[EXPLORING.name].bias.fill_(-1e4)  # at nothing
    turns = (Turn(Role.SEEKER, "it fell."), Turn(Role.SUPPORTER, "why?"))
    shown, plain = Reading(turns, ("2",), ("why",)), Reading(turns, ("0",))
    report = evaluate_understanding(reader, EXPLORING, [shown, plain, plain, plain]).flat()
    assert (report["rationale_f1"], report["rationale_f1_shown"]) == (75.0, 0.0)
    unread = replace(plain, rationales=("never said",))  # nothing that is read shows it
    report = evaluate_understanding(reader, EXPLORING, [shown, unread]).flat()
    assert (report["rationale_f1"], report["rationale_f1_shown"]) == (50.0, 0.0)
    assert "rationale_f1_shown" not in evaluate_understanding(reader, EXPLORING, [plain]).flat()


def test_labels_and_where_can_be_learned_together(recipe, tmp_path: Path):
    names = '["ed-emotion", "epitome-explorations"]'
    wanted = recipe(f"heads.learned={names}", 'heads.pointing=["epitome-explorations"]')
    task = make_task(wanted, tmp_path / "run")
    assert isinstance(task, UnderstandingTask)
    before = {name: value.clone() for name, value in task.model.state_dict().items()}
    found = train(task, wanted, tmp_path / "run")
    assert {"accuracy_ed-emotion", "accuracy_epitome-explorations", "rationale_f1"} <= set(found)
    changed = {
        name for name, value in task.model.state_dict().items() if not torch.equal(value, before[name])
    }
    assert {"pointers.epitome-explorations.weight", "heads.epitome-explorations.4.weight"} <= changed
    assert not any(name.startswith("encoder") for name in changed)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (['heads.pointing=["topic"]'], r"heads\.pointing has 'topic', which heads\.names has not"),
        (['heads.pointing=["ed-emotion"]'], "'ed-emotion', whose corpus has no rationales"),
        (['heads.pointing=["epitome-explorations"]'], "does not learn, so model.start must be a reader"),
        (['heads.pointing=["epitome-explorations"]', "model.frozen=false"], "is for model.frozen = true"),
        (["heads.pointing_window=4"], "an odd number of tokens, 1 or more; got 4"),
    ],
)
def test_a_recipe_that_points_nowhere_is_one_sentence(recipe, tmp_path: Path, changes, sentence: str):
    with pytest.raises(AllearsError, match=sentence):
        make_task(recipe(*changes), tmp_path / "run")


def test_an_informed_head_is_taken_over_only_as_one(recipe, tmp_path: Path):
    learned(recipe('heads.informed=["ed-emotion"]'), tmp_path / "start")
    changes = (f'model.start="{tmp_path / "start"}"', 'heads.pointing=["epitome-explorations"]')
    with pytest.raises(AllearsError, match=r"ed-emotion .* heads\.informed must name it here"):
        make_task(recipe(*changes), tmp_path / "run")
    task = make_task(recipe(*changes, 'heads.informed=["ed-emotion"]'), tmp_path / "run")
    assert isinstance(task, UnderstandingTask)
    expected = saved.load(tmp_path / "start").model.facts.state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in task.model.facts.state_dict().items())
