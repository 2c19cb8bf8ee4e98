"""The crisis talks: how they are read, and what holds of those that ship."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from allears.conversation import Conversation, Role
from allears.corpora.crisis import LEVELS, CrisisTalks, conversation
from made_up_corpora import CRISIS

SPLITS = ("train", "valid", "test")


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Conversation]]:
    empty = tmp_path_factory.mktemp("no-corpora")
    return {split: list(CrisisTalks().read(split, empty)) for split in SPLITS}


def record(number: int = 0) -> dict[str, Any]:
    return dict(json.loads(CRISIS.files[CRISIS.main].splitlines()[number]))


def test_every_message_of_the_person_has_its_level_and_no_other_turn_has_one():
    talk = conversation(record(), "train")
    assert talk.labels == {
        "danger": "suicide",
        "whose": "own",
        "levels": ["none", None, "doubt", None, "clear"],
        "shape": "third message",
        "author": "made-up",
    }
    assert (talk.id, talk.split, talk.source) == ("c-1", "train", "crisis-talks")
    assert conversation(record(1)).labels["whose"] == "other"


def test_an_answer_to_our_question_has_a_judgement_in_the_place_of_levels():
    labels = conversation(record(2)).labels
    assert labels["answer"] == "all-clear"
    assert "levels" not in labels


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "doubt"}, "'kind' must be one of none, suicide"),
        ({"whose": "mine"}, "'whose' must be one of own, other; got 'mine'"),
        ({"answer": "maybe"}, "'answer' must be one of not, all-clear; got 'maybe'"),
        ({"turns": []}, "the last turn must be the seeker's"),
        ({"turns": [{"speaker": "supporter", "text": "Hi."}]}, "the last turn must be the seeker's"),
        ({"turns": [{"speaker": "seeker", "text": "Hi."}]}, "every turn of the seeker needs a 'level'"),
        ({"turns": [{"speaker": "cat", "text": "Hi."}]}, "'speaker' must be one of seeker, supporter"),
        ({"turns": [{"speaker": "seeker", "text": "Hi.", "level": "grave"}]}, "got 'grave'"),
        (
            {"turns": [{"speaker": "supporter", "text": "Hi.", "level": "none"}]},
            "'level' must be one of none, doubt, clear, of the seeker's turns",
        ),
    ],
)
def test_a_wrong_record_says_which_key(change: dict, sentence: str):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        conversation(record() | change)


# --- what ships


def test_no_author_is_in_two_splits_and_no_id_is_used_twice(shipped: dict[str, list[Conversation]]):
    authors = {split: {talk.labels["author"] for talk in shipped[split]} for split in SPLITS}
    assert sum(map(len, authors.values())) == len(set.union(*authors.values()))
    ids = [talk.id for split in SPLITS for talk in shipped[split]]
    assert len(ids) == len(set(ids))


def test_a_talk_without_danger_is_never_clear_and_one_about_a_danger_is_raised_somewhere(
    shipped: dict[str, list[Conversation]],
):
    for split in SPLITS:
        for talk in shipped[split]:
            if "levels" in talk.labels:
                levels = {level for level in talk.labels["levels"] if level}
                assert levels <= set(LEVELS)
                assert ("clear" in levels or "doubt" in levels) is (talk.labels["danger"] != "none"), talk.id


def test_no_conversation_is_in_two_splits(shipped: dict[str, list[Conversation]]):
    seen: dict[str, str] = {}
    for split in SPLITS:
        for talk in shipped[split]:
            said = " ".join(turn.text for turn in talk.turns if turn.speaker is Role.SEEKER).lower()
            if len(said.split()) > 8:  # shorter ones are everybody's
                assert seen.setdefault(said, split) == split, talk.id


def test_a_file_of_ones_own_goes_before_the_shipped_one(tmp_path: Path):
    assert [talk.id for talk in CrisisTalks().read("train", CRISIS.write(tmp_path))] == ["c-1", "c-2", "c-3"]
