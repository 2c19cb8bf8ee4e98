from __future__ import annotations

from pathlib import Path

import pytest

from allears.conversation import Role
from allears.corpora import CorpusError, read
from made_up_corpora import ED, ED_INTENTS, json_lines, write_bytes


def test_seekers_get_emotions_and_supporters_intents(tmp_path: Path):
    first, second, third = read("ed-intents", "train", ED_INTENTS.write(tmp_path))
    assert [(turn.emotion, turn.intent) for turn in first.turns] == [
        ("proud", None),
        (None, "questioning"),
        ("content", None),
        (None, "encouraging"),
    ]
    assert (second.turns[1].intent, third.turns[0].emotion) == ("consoling", "afraid")
    assert first.emotion == "proud"  # EmpatheticDialogues' own label stays where it was


def test_the_labels_file_may_be_the_root(tmp_path: Path):
    ED_INTENTS.write(tmp_path)
    assert len(list(read("ed-intents", "train", tmp_path / "ed_turn_labels.train.jsonl"))) == 3


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        ([{"conv_id": "hit:0_conv:1", "labels": ["proud"]}], "'hit:0_conv:1' has 4 turns but 1 labels"),
        ([{"conv_id": "other", "labels": ["proud"]}], "no labels for the conversation 'hit:0_conv:1'"),
        ([{"conv_id": "hit:0_conv:1"}], "line 1: expected the key 'labels', got 'conv_id'"),
        ([{"conv_id": "hit:0_conv:1", "labels": [1]}], "line 1: 'labels' must be a list of texts"),
        ([{"conv_id": "hit:0_conv:1", "labels": ["angst"]}], "line 1: unknown label 'angst'"),
        ([[]], "line 1: expected one JSON object: expected an object, got list"),
    ],
)
def test_labels_that_do_not_fit_are_reported(records: list, problem: str, tmp_path: Path):
    ED.write(tmp_path)
    write_bytes(tmp_path / "ed_turn_labels.train.jsonl", json_lines(*records).encode())
    with pytest.raises(CorpusError, match=problem):
        list(read("ed-intents", "train", tmp_path))


@pytest.mark.corpus
def test_every_turn_of_the_real_corpus_has_its_label(data_root: Path):
    count = 0
    for talk in read("ed-intents", "valid", data_root):
        count += 1
        for turn in talk.turns:
            wanted, other = turn.emotion, turn.intent
            if turn.speaker is Role.SUPPORTER:
                wanted, other = other, wanted
            assert wanted
            assert other is None
    assert count == 2_769
