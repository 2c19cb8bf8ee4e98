from __future__ import annotations

from pathlib import Path

import pytest

from allears.conversation import Role, Turn
from allears.corpora import CorpusError, read
from allears.corpora.epitome import MECHANISMS
from allears.corpora.files import NotHereError
from made_up_corpora import EPITOME, EPITOME_HEADER, csv_text, write_bytes

REACTIONS = "epitome/emotional-reactions-reddit.csv"


def test_levels_and_rationales_of_three_files_come_together(tmp_path: Path):
    first, second, _ = read("epitome", "train", EPITOME.write(tmp_path))
    assert first.turns == (
        Turn(Role.SEEKER, "I fell,\nbadly."),
        Turn(Role.SUPPORTER, "I am so sorry, friend."),
    )
    assert first.labels == {
        "emotional_reactions": {"level": 2, "rationales": ["I am so sorry"]},
        "interpretations": {"level": 0, "rationales": []},
        "explorations": {"level": 0, "rationales": []},
    }
    assert second.labels["explorations"] == {"level": 2, "rationales": ["What did you try?"]}


def test_a_pair_annotated_twice_is_two_conversations_with_two_ids(tmp_path: Path):
    first, second, third = read("epitome", "train", EPITOME.write(tmp_path))
    assert [talk.id for talk in (first, second, third)] == ["p1/r1", "p2/r2", "p1/r1#2"]
    assert third.labels["emotional_reactions"]["rationales"] == ["sorry", "friend"]
    assert third.labels["interpretations"] == {"level": 1, "rationales": ["friend"]}


def test_a_pair_that_is_missing_in_another_file_is_reported(tmp_path: Path):
    EPITOME.write(tmp_path)
    write_bytes(tmp_path / "epitome/explorations-reddit.csv", csv_text(EPITOME_HEADER).encode())
    with pytest.raises(CorpusError, match=r"line 2: the pair p1/r1 is not in explorations-reddit\.csv"):
        list(read("epitome", "train", tmp_path))


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (["p", "r", "post", "reply", "0"], "line 2: expected 6 columns, got 5"),
        (["p", "r", "post", "reply", "high", ""], "line 2: expected a level of 0, 1 or 2, got 'high'"),
        (["p", "r", " ", "reply", "0", ""], "line 2: an empty post or response"),
        (["p", "r", "a" * 200_000, "reply", "0", ""], "line 2: not a CSV row"),
    ],
)
def test_a_broken_row_is_reported_and_can_be_stepped_over(row: list[str], problem: str, tmp_path: Path):
    EPITOME.write(tmp_path)
    good = EPITOME.files[REACTIONS].partition("\n")[2]
    write_bytes(tmp_path / REACTIONS, (csv_text(EPITOME_HEADER, row) + good).encode())
    with pytest.raises(CorpusError, match=problem):
        list(read("epitome", "train", tmp_path))
    bad: list[CorpusError] = []
    assert len(list(read("epitome", "train", tmp_path, on_bad=bad.append))) == 3
    assert len(bad) == 1


def test_the_line_is_where_a_row_begins_even_after_rows_of_several_lines(tmp_path: Path):
    EPITOME.write_broken(tmp_path)
    with pytest.raises(CorpusError, match="line 4: expected a level"):
        list(read("epitome", "train", tmp_path))


def test_other_columns_are_refused(tmp_path: Path):
    EPITOME.write(tmp_path)
    write_bytes(tmp_path / REACTIONS, b"a,b\n1,2\n")
    with pytest.raises(CorpusError, match=r"line 1: expected the columns sp_id, .*, got a, b"):
        list(read("epitome", "train", tmp_path))


def test_there_is_only_one_split(tmp_path: Path):
    with pytest.raises(NotHereError, match="there is no split 'valid', only 'train'"):
        read("epitome", "valid", EPITOME.write(tmp_path))


@pytest.mark.corpus
def test_the_published_counts_hold(data_root: Path):
    found = list(read("epitome", "train", data_root))
    assert len(found) == len({talk.id for talk in found}) == 3_084
    strong = {name: sum(talk.labels[name]["level"] == 2 for talk in found) for name in MECHANISMS}
    assert strong == {"emotional_reactions": 152, "interpretations": 1_344, "explorations": 376}
