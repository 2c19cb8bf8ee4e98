"""The written cases: single messages and conversations, those that ship and files of one's own."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.labels import RISKS
from allears.safety.cases_file import SPLITS, Case, read_cases, shipped_cases, shipped_talks
from allears.safety.dangers import LABELS, Danger

TURNS = [
    {"speaker": "seeker", "text": "i am so tired"},
    {"speaker": "supporter", "text": "Are you thinking of ending your life?"},
    {"speaker": "seeker", "text": "sometimes"},
]


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


# --- what ships


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_has_single_messages_of_every_label_that_they_know(split: str):
    assert {case.label for case in shipped_cases(split)} == set(RISKS)


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_has_conversations_of_every_danger_and_without_any(split: str):
    talks = shipped_talks(split)
    assert {talk.danger for talk in talks if talk.level == "clear"} == set(Danger)
    assert {talk.level for talk in talks} == {"none", "doubt", "clear"}
    assert {talk.danger for talk in talks if talk.level == "none"} == {"none"}
    assert all(talk.turns[-1].speaker is Role.SEEKER for talk in talks)


def test_no_message_is_in_two_splits():
    seen: dict[str, str] = {}
    for split in SPLITS:
        for case in shipped_cases(split):
            plain = " ".join(case.text.lower().split())
            assert seen.setdefault(plain, split) == split, f"a case of {split} is also in {seen[plain]}"


def test_what_lies_about_in_the_working_folder_is_not_taken_for_what_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "crisis").mkdir()
    (tmp_path / "crisis" / "valid.jsonl").write_text("no json\n")
    monkeypatch.chdir(tmp_path)
    assert len(shipped_talks("valid")) > 100


def test_a_split_that_does_not_exist_is_an_error():
    for ask in (shipped_cases, shipped_talks):
        with pytest.raises(
            AllearsError, match="no safety cases are called 'dev'; there are train, valid, test"
        ):
            ask("dev")


# --- a file of one's own


def test_a_file_of_ones_own_is_read(tmp_path: Path):
    path = write(
        tmp_path / "own.jsonl", {"text": "hi", "label": "none"}, {"text": "x", "label": "eating", "note": "n"}
    )
    assert read_cases(path) == (Case("hi", "none"), Case("x", "eating", "n"))


def test_of_a_conversation_the_last_message_is_judged(tmp_path: Path):
    (case,) = read_cases(write(tmp_path / "own.jsonl", {"turns": TURNS, "label": "suicide"}))
    assert (case.text, case.label, case.is_danger) == ("sometimes", "suicide", True)
    assert case.before == (
        Turn(Role.SEEKER, "i am so tired"),
        Turn(Role.SUPPORTER, "Are you thinking of ending your life?"),
    )


@pytest.mark.parametrize("label", LABELS)
def test_every_label_of_the_screen_may_stand_there_and_a_doubt_is_no_danger(label: str, tmp_path: Path):
    (case,) = read_cases(write(tmp_path / "own.jsonl", {"text": "hi", "label": label}))
    assert case.is_danger is (label not in ("none", "doubt"))


def test_a_packed_file_is_read_and_blank_lines_are_none(tmp_path: Path):
    path = tmp_path / "own.jsonl.gz"
    path.write_bytes(gzip.compress(b'\n{"text": "hi", "label": "none"}\n\n'))
    assert read_cases(path) == (Case("hi", "none"),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"text": "hi"}\n', "line 1: expected"),
        ('{"text": "hi", "label": "none"}\nno json\n', "line 2: expected"),
        ('{"text": "hi", "label": "sad"}\n', "line 1: the label must be one of none, doubt, suicide"),
        ('{"text": "hi", "label": ["none"]}\n', "line 1: the label must be one of"),
        ('{"text": 3, "label": "none"}\n', "line 1: expected .*a text was expected, got 3"),
        ("[]\n", "line 1: expected"),
        ("\n\n[]\n", "line 3: expected"),
        ('{"turns": [], "label": "none"}\n', "line 1: expected"),
        ('{"turns": 3, "label": "none"}\n', "line 1: expected"),
        ('{"turns": ["hi"], "label": "none"}\n', "line 1: expected"),
        (json.dumps({"turns": TURNS[:2], "label": "none"}), "the last turn must be the seeker's"),
        (json.dumps({"turns": [{"speaker": "cat", "text": "x"}], "label": "none"}), "line 1: expected .*cat"),
        (json.dumps({"turns": [{"speaker": "seeker"}], "label": "none"}), "line 1: expected .*'text'"),
        ("\n", "no cases in it"),
    ],
)
def test_a_broken_file_is_one_sentence_with_the_line(tmp_path: Path, content: str, message: str):
    path = tmp_path / "own.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(AllearsError, match=message) as raised:
        read_cases(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(b"x" * 500)[:20], b"\x1f\x8b\x08" + b"\x00" * 30]
)
def test_a_packed_file_that_is_damaged_is_one_sentence(tmp_path: Path, content: bytes):
    path = tmp_path / "own.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(AllearsError, match="cannot read the safety cases"):
        read_cases(path)


def test_a_missing_file_and_one_that_is_no_text_are_one_sentence(tmp_path: Path):
    with pytest.raises(AllearsError, match="cannot read the safety cases"):
        read_cases(tmp_path / "nowhere.jsonl")
    (tmp_path / "latin.jsonl").write_bytes('{"text": "Café", "label": "none"}'.encode("latin-1"))
    with pytest.raises(AllearsError, match="UTF-8"):
        read_cases(tmp_path / "latin.jsonl")
