from __future__ import annotations

from pathlib import Path

import pytest

from allears.conversation import Role, Turn
from allears.corpora import CorpusError, read
from made_up_corpora import GOEMOTIONS, write_bytes


def test_all_labels_are_kept_and_the_first_is_the_emotion(tmp_path: Path):
    _, second, third = read("goemotions", "valid", GOEMOTIONS.write(tmp_path))
    assert second.id == "c2"
    assert second.turns == (Turn(Role.SEEKER, 'She said "no" twice.', emotion="anger"),)
    assert second.labels == {"emotions": ["anger", "sadness"]}
    assert (second.emotion, third.emotion) == ("anger", "neutral")


@pytest.mark.parametrize("name", ["labels.txt", "emotions.txt"])
def test_names_beside_the_file_come_before_the_built_in_ones(name: str, tmp_path: Path):
    write_bytes(tmp_path / "goemotions" / name, b"calm\nwild\n")
    write_bytes(tmp_path / "goemotions/train.tsv", b"Hush.\t0\tc1\nWhee!\t1\tc2\n")
    assert [talk.emotion for talk in read("goemotions", "train", tmp_path)] == ["calm", "wild"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("Hello.\t3", "line 1: expected 3 columns \\(text, labels, id\\) between tabs, got 2"),
        ("Hello.\t28\tc", "line 1: expected label numbers from 0 to 27, got '28'"),
        ("Hello.\t1;2\tc", "line 1: expected label numbers from 0 to 27, got '1;2'"),
        ("Hello.\t\tc", "line 1: expected label numbers from 0 to 27, got ''"),
        (" \t1\tc", "line 1: an empty text or id"),
        ('"Hello.\t1\tc', "line 1: expected 3 columns"),
    ],
)
def test_a_broken_row_costs_one_comment(row: str, problem: str, tmp_path: Path):
    text = f"{row}\n{GOEMOTIONS.files['goemotions/dev.tsv']}"
    write_bytes(tmp_path / "goemotions/dev.tsv", text.encode())
    with pytest.raises(CorpusError, match=problem):
        list(read("goemotions", "valid", tmp_path))
    assert len(list(read("goemotions", "valid", tmp_path, on_bad=lambda error: None))) == 3


@pytest.mark.corpus
def test_the_published_counts_hold(data_root: Path):
    train = list(read("goemotions", "train", data_root))
    assert len(train) == 43_410
    assert len({name for talk in train for name in talk.labels["emotions"]}) == 28
    assert sum(1 for _ in read("goemotions", "valid", data_root)) == 5_426
