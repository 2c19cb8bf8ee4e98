"""The scorer, which chooses among drafts: CoBERT itself, and how it is measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from allears.conversation import Role, Turn
from allears.corpora import read as read_corpus
from allears.corpora.marked import from_talks
from allears.errors import AllearsError
from allears.evaluation.scorer import evaluate_scorer
from allears.labels import MARKS
from allears.listener.fitting import CobertScorer
from allears.listener.listener import Listener
from allears.metrics.ranking import area_under_curve
from allears.runtime.onnx_selector import OnnxSelector
from made_up_corpora import MARKED

TURNS = (
    Turn(Role.SEEKER, "my dog is lost"),
    Turn(Role.SUPPORTER, "Where did you see him last?"),
    Turn(Role.SEEKER, "at the boat"),
)
REPLIES = ["Great news!", "At the boat. So your dog was at the boat?", "Where did you see him last?"]


def test_each_reply_is_scored_as_if_it_were_alone(listener: Listener):
    scorer = CobertScorer(listener.selector)
    together = scorer.score(TURNS, ["i have a dog"], REPLIES)
    alone = [scorer.score(TURNS, ["i have a dog"], [reply])[0] for reply in REPLIES]
    assert together == pytest.approx(alone, rel=1e-3)
    assert len(set(together)) == 3


def test_what_was_said_and_what_is_known_make_a_difference(listener: Listener):
    scorer = CobertScorer(listener.selector)
    (plain,) = scorer.score(TURNS, (), REPLIES[:1])
    assert scorer.score(TURNS, ["my cat is lost"], REPLIES[:1]) != [pytest.approx(plain)]
    assert scorer.score(TURNS[:1], (), REPLIES[:1]) != [pytest.approx(plain)]


def test_no_replies_have_no_scores(listener: Listener):
    assert CobertScorer(listener.selector).score(TURNS, (), []) == []


def test_the_shipped_encoder_knows_what_is_off():
    scorer = CobertScorer(OnnxSelector.from_bundle())
    said = (Turn(Role.SEEKER, "my dog died this morning and the house is so quiet"),)
    replies = [
        "So quiet without him. How long did you have him?",
        "Congratulations, you must be so proud of your new job!",
    ]
    good, off = scorer.score(said, (), replies)
    assert good > off


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
    """A scorer that likes replies with some words in them, and those that are short a little."""

    def score(self, turns: Sequence[Turn], known: Sequence[str], replies: Sequence[str]) -> list[float]:
        return [2.0 if "never comes" in reply else -len(reply) / 100 for reply in replies]


def test_the_measures_of_a_scorer(tmp_path: Path):
    marked = list(read_corpus("marked-replies", "train", MARKED.write(tmp_path)))
    assert evaluate_scorer(Knows(), marked).flat() == {"n": 3, "auc_good_off": 100, "auc_good_rest": 100}
    for mark in ("good", "off"):
        with pytest.raises(AllearsError, match=f"marked {mark}"):
            evaluate_scorer(Knows(), [each for each in marked if each.labels["mark"] != mark])


def test_the_area_counts_ties_by_half():
    assert area_under_curve([1, 2], [0, 1]) == pytest.approx(0.875)
    with pytest.raises(AllearsError, match="both sides"):
        area_under_curve([1], [])
