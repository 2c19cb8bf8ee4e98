"""The scorer: what it learns from, how it goes into a bundle, and what it says of replies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from allears.conversation import Role, Turn
from allears.corpora.heads import FIT_TURNS, fit_reading, head
from allears.corpora.marked import from_talks
from allears.errors import AllearsError
from allears.evaluation.scorer import evaluate_scorer
from allears.labels import MARKS
from allears.models.reader.saved import ReaderCard, TorchReader, build
from allears.models.selection.saved import TorchSelector
from allears.runtime.onnx_scorer import FIT, Fit, OnnxScorer, bundled_scorer
from allears.text.layout import Limits
from allears.training.export.ranker import export
from allears.training.export.scorer import add_scorer
from tiny_models import tiny_selector

TURNS = (
    Turn(Role.SEEKER, "my dog is lost"),
    Turn(Role.SUPPORTER, "Where did you see him last?", strategy="Question"),
    Turn(Role.SEEKER, "at the boat"),
)
REPLIES = ["Great news!", "Your dog was at the boat.", "So sad."]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> TorchSelector:
    return tiny_selector(tmp_path_factory.mktemp("run"), similarity="cosine", pooled=True)


@pytest.fixture(scope="module")
def reader(run: TorchSelector) -> TorchReader:
    encoder = run.model.encoder.first_layers(1)  # type: ignore[union-attr,operator]
    generator = torch.Generator().manual_seed(3)
    for module in encoder.modules():
        if isinstance(module, torch.nn.Linear):
            up = torch.randn(module.out_features, 2, generator=generator)
            down = torch.randn(2, module.in_features, generator=generator)
            module.weight.data += 0.1 * up @ down / module.in_features**0.5
    card = ReaderCard({FIT: head(FIT).labels}, Limits(context_tokens=60), encoder.config, {})
    torch.manual_seed(3)
    model = build(card, encoder)
    model.heads[FIT][-1].weight.data *= 10  # type: ignore[index,union-attr]
    return TorchReader(model, card, run.tokenizer)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def bundle(run: TorchSelector, reader: TorchReader, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scored") / "bundle"
    export(run, folder)
    assert bundled_scorer(folder) is None
    add_scorer(folder, reader)
    return folder


def test_the_exported_scorer_says_what_its_run_says(bundle: Path, reader: TorchReader):
    scorer = bundled_scorer(bundle)
    assert scorer is not None
    found = scorer.score(TURNS, ["i have a dog"], REPLIES)
    expected = reader.answers([fit_reading(TURNS, ["i have a dog"], reply) for reply in REPLIES])[FIT]
    good, off = MARKS.index("good"), MARKS.index("off")
    np.testing.assert_allclose([each.good for each in found], expected[:, good], atol=0.03)
    np.testing.assert_allclose([each.off for each in found], expected[:, off], atol=0.03)
    assert np.ptp(expected, axis=0).max() > 0.05  # the replies do differ


def test_replies_are_compared_by_how_likely_good_less_how_likely_off():
    assert Fit(0.6, 0.1).worth > Fit(0.7, 0.3).worth


def test_what_is_read_ends_with_the_reply_and_shows_no_strategy():
    long = (*TURNS, *TURNS, *TURNS)
    reading = fit_reading(long, ["i have a dog"], "So sad.")
    assert [turn.text for turn in reading.turns[:1]] == ["i have a dog"]
    assert reading.turns[-1] == Turn(Role.SUPPORTER, "So sad.")
    assert len(reading.turns) == 1 + FIT_TURNS + 1
    assert all(turn.strategy is None for turn in reading.turns)


def test_marked_replies_ship_for_every_split_and_become_readings():
    for split in ("train", "valid", "test"):
        readings = head(FIT).read(split)
        assert {reading.label for reading in readings} <= set(MARKS)
        assert all(reading.turns[-1].speaker is Role.SUPPORTER for reading in readings)


def test_somebody_elses_reply_is_off_and_ones_own_is_good(tmp_path: Path):
    rows = list(from_talks("valid", tmp_path))
    good = [row for row in rows if row.labels["mark"] == "good"]
    off = {row.id.removesuffix("-off"): row for row in rows if row.labels["mark"] == "off"}
    assert len(good) > 300
    pairs = [(row, off[id]) for row in good if (id := row.id.removesuffix("-good")) in off]
    assert all(one.turns[:-1] == other.turns[:-1] for one, other in pairs)
    assert not any(one.turns[-1] == other.turns[-1] for one, other in pairs)


def test_a_bundle_without_a_scorer_says_how_to_add_one(run: TorchSelector, tmp_path: Path):
    export(run, tmp_path / "bundle")
    with pytest.raises(AllearsError, match="--scorer RUN"):
        OnnxScorer.from_bundle(tmp_path / "bundle")


class Knows:
    """A scorer that likes replies with a word in them."""

    def score(self, turns, known, replies):  # type: ignore[no-untyped-def]
        return [Fit(0.9, 0.05) if "never comes" in reply else Fit(0.1, 0.8) for reply in replies]


def test_the_measures_of_a_scorer(tmp_path: Path):
    from made_up_corpora import MARKED

    readings = head(FIT).read("train", MARKED.write(tmp_path))
    report = evaluate_scorer(Knows(), readings)
    assert report.flat()["auc_good_off"] == 100
    assert report.flat()["n"] == 3
    assert report.flat()["accuracy"] == pytest.approx(200 / 3)
