from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from allears.conversation import PersonaSentence, Role
from allears.corpora import CorpusError, read
from made_up_corpora import MSC, json_lines, write_bytes

OFFICIAL = {
    "dialog": [
        {"text": "My goat is ill.", "persona_text": "I have a goat."},
        {"text": "I am a vet!", "persona_text": "I am a vet."},
        {"text": "What luck."},
    ],
    "init_personachat": {"init_personas": [["i have a goat ."], ["i heal ."]]},
    "initial_data_id": "x",
}


def test_user_turns_carry_their_gold_sentences(tmp_path: Path):
    first = next(read("msc", "valid", MSC.write(tmp_path)))
    assert [turn.text for turn in first.turns] == ["Hello.", "Hi.", "My goat is ill.", "Oh.", "Bye."]
    assert [turn.speaker for turn in first.turns][:2] == [Role.SEEKER, Role.SUPPORTER]
    assert first.labels == {"session": 2, "persona_by_turn": [[], [], ["I have a goat."], [], []]}
    assert first.personas["seeker"].sentences == (PersonaSentence("I have a goat.", "turn 3"),)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"user_memory": []}, "line 1: 1 pairs in 'dialogue' but 0 lists in 'user_memory'"),
        ({"dialogue": [["A."]]}, "line 1: pair 1 in 'dialogue' must be \\[user, answer\\], got 1 texts"),
        ({"dialogue": [["", "B."]]}, "line 1: no turns, or an empty turn"),
        ({"dialogue": [["A.", 3]]}, "line 1: 'dialogue' must be a list of texts"),
        ({"id": 3}, "line 1: 'id' must be a text, got int"),
    ],
)
def test_what_does_not_fit_is_reported(change: dict[str, Any], problem: str, tmp_path: Path):
    record = {"id": "m", "dialogue": [["A.", "B."]], "user_memory": [[]]} | change
    write_bytes(tmp_path / "msc_persona_valid.jsonl", json_lines(record).encode())
    with pytest.raises(CorpusError, match=problem):
        list(read("msc", "valid", tmp_path))


def test_the_official_folders_are_read_session_after_session(tmp_path: Path):
    for session, count in ((1, 2), (2, 1)):
        place = tmp_path / f"msc/msc_personasummary/session_{session}/train.txt"
        write_bytes(place, json_lines(*[OFFICIAL] * count).encode())
    found = list(read("msc", "train", tmp_path))
    assert [talk.labels["session"] for talk in found] == [1, 1, 2]
    assert len({talk.id for talk in found}) == 3
    assert found[0].personas["seeker"].texts == ("I have a goat.",)
    assert found[0].personas["supporter"].sentences == (PersonaSentence("I am a vet.", "turn 2"),)
    assert found[0].labels["persona_by_turn"] == [["I have a goat."], ["I am a vet."], []]


def test_the_official_tarball_is_read(tmp_path: Path):
    data = json_lines(OFFICIAL).encode()
    with tarfile.open(tmp_path / "msc_v0.1.tar.gz", "w:gz") as tar:
        for session in (1, 2, 3, 4):
            info = tarfile.TarInfo(f"msc/msc_personasummary/session_{session}/valid.txt")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    assert len(list(read("msc", "valid", tmp_path))) == 4


@pytest.mark.corpus
def test_the_counts_of_the_file_here_hold(data_root: Path):
    assert sum(1 for _ in read("msc", "valid", data_root)) == 2_000
