"""The scorer: what it learns from, what it reads of a reply, its file, and how it is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from allears.conversation import Role, Turn
from allears.corpora import read as read_corpus
from allears.corpora.marked import from_talks
from allears.errors import AllearsError
from allears.evaluation.scorer import evaluate_scorer
from allears.labels import MARKS
from allears.listener.fitting import FEATURES, FILE, Fit, ReplyScorer, ScorerWeights, open_scorer, read
from allears.listener.listener import Listener
from allears.metrics.ranking import area_under_curve
from allears.runtime.onnx_selector import OnnxSelector
from allears.training.fit_scorer import area_of, fit, inputs
from made_up_corpora import MARKED

TURNS = (
    Turn(Role.SEEKER, "my dog is lost"),
    Turn(Role.SUPPORTER, "Where did you see him last?"),
    Turn(Role.SEEKER, "at the boat"),
)
REPLIES = ["Great news!", "At the boat. So your dog was at the boat?", "Where did you see him last?"]


def test_replies_are_compared_by_how_likely_good_less_how_likely_off():
    assert Fit(0.6, 0.1).worth > Fit(0.7, 0.3).worth


def test_what_is_read_of_a_reply_says_what_it_repeats(listener: Listener):
    vectors, features = read(listener.selector, TURNS, ["i have a dog"], REPLIES)
    size = listener.selector.card.size
    assert vectors.shape == (3, 3 * size)
    assert features.shape == (3, len(FEATURES))
    column = {name: features[:, place] for place, name in enumerate(FEATURES)}
    assert column["asks"].tolist() == [0, 1, 1]
    assert column["share of the last message's words that it takes up"][1] == 1
    assert column["three words in a row from the person"].argmax() == 1
    assert column["likeness to what the listener said before"].argmax() == 2
    assert column["likeness to what the listener said before"][2] == pytest.approx(1, abs=1e-3)
    assert column["words"].tolist() == [2, 10, 6]


def test_each_reply_is_read_as_if_it_were_alone(listener: Listener):
    together = read(listener.selector, TURNS, (), REPLIES)
    for place, reply in enumerate(REPLIES):
        alone = read(listener.selector, TURNS, (), [reply])
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_allclose(one[place], other[0], atol=2e-3)


def test_it_learns_to_tell_good_from_off_and_survives_its_file(listener: Listener, tmp_path: Path):
    selector = listener.selector
    talks = list(read_corpus("marked-replies", "train", MARKED.write(tmp_path))) * 12
    data = inputs(selector, talks)
    weights, area = fit(data, data, selector.fingerprint)
    assert area == area_of(weights, data) > 0.95
    names = ("centre", "scale", "first", "first_bias", "second", "second_bias")
    save_file(
        {name: getattr(weights, name) for name in names},
        tmp_path / "scorer",
        metadata={"fingerprint": weights.fingerprint},
    )
    again = ScorerWeights.read(tmp_path / "scorer")
    scorer = ReplyScorer(selector, again)
    good, off, _ = talks[:3]
    (better,) = scorer.score(good.turns[:-1], (), [good.turns[-1].text])
    (worse,) = scorer.score(off.turns[:-1], ("i take the bus",), [off.turns[-1].text])
    assert better.worth > worse.worth
    assert scorer.score(TURNS, (), []) == []


def test_the_shipped_scorer_belongs_to_the_shipped_encoder_and_knows_what_is_off():
    scorer = open_scorer(OnnxSelector.from_bundle())
    assert scorer is not None
    said = (Turn(Role.SEEKER, "my dog died this morning and the house is so quiet"),)
    replies = [
        "So quiet without him. How long did you have him?",
        "Congratulations, you must be so proud of your new job!",
    ]
    good, off = scorer.score(said, (), replies)
    assert good.worth > off.worth


def test_a_scorer_of_another_encoder_is_not_used(listener: Listener):
    assert open_scorer(listener.selector) is None


def test_a_damaged_file_is_one_sentence(tmp_path: Path):
    (tmp_path / "broken").write_bytes(FILE.read_bytes()[:30])
    save_file({"centre": np.zeros(2, np.float32)}, tmp_path / "bare")
    for name in ("broken", "bare", "missing"):
        with pytest.raises(AllearsError, match="fit_scorer"):
            ScorerWeights.read(tmp_path / name)


def test_marked_replies_ship_for_every_split():
    for split in ("train", "valid", "test"):
        for talk in read_corpus("marked-replies", split):
            assert talk.labels["mark"] in MARKS
            assert talk.turns[-1].speaker is Role.SUPPORTER


def test_somebody_elses_reply_is_off_and_ones_own_is_good(tmp_path: Path):
    rows = list(from_talks("valid", tmp_path))
    good = [row for row in rows if row.labels["mark"] == "good"]
    off = {row.id.removesuffix("-off"): row for row in rows if row.labels["mark"] == "off"}
    assert len(good) > 300
    pairs = [(row, off[id]) for row in good if (id := row.id.removesuffix("-good")) in off]
    assert all(one.turns[:-1] == other.turns[:-1] for one, other in pairs)
    assert not any(one.turns[-1] == other.turns[-1] for one, other in pairs)


class Knows:
    """A scorer that likes replies with some words in them."""

    def score(self, turns: Sequence[Turn], known: Sequence[str], replies: Sequence[str]) -> list[Fit]:
        return [Fit(0.9, 0.05) if "never comes" in reply else Fit(0.1, 0.8) for reply in replies]


def test_the_measures_of_a_scorer(tmp_path: Path):
    marked = list(read_corpus("marked-replies", "train", MARKED.write(tmp_path)))
    found = evaluate_scorer(Knows(), marked).flat()
    assert found["n"] == 3
    assert found["auc_good_off"] == 100
    assert found["accuracy"] == pytest.approx(200 / 3)
    with pytest.raises(AllearsError, match="marked off"):
        evaluate_scorer(Knows(), [each for each in marked if each.labels["mark"] != "off"])


def test_the_area_counts_ties_by_half():
    assert area_under_curve([1, 2], [0, 1]) == pytest.approx(0.875)
    with pytest.raises(AllearsError, match="both sides"):
        area_under_curve([1], [])


def test_weights_are_plain_numbers():
    assert replace(ScorerWeights.read(), fingerprint="x").fingerprint == "x"
