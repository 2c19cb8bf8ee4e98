"""People get everything that is kept about them, and can have it gone: from the lists, and from the disk."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from allears.conversation import Persona, PersonaSentence, Role, Turn
from allears.memory import Counts, Memory, UnavailableError
from databases import Open
from talking import ME, exchange, say

WORDS = [f"{word}-{number}" for number in range(40) for word in ("periwinkle", "marmalade")]


def talk_a_lot(memory: Memory, person: str) -> str:
    """A conversation whose every text has a word to look for; some are longer than a page of the database."""
    memory.set_consent(person, True)
    talk = memory.start(person)
    for number, word in enumerate(WORDS):
        say(
            memory, talk, f"{word} " * (1 if number % 5 else 900), f"I know {word}.", person=person,
            labels={"note": word}, why={"word": word},
        )  # fmt: skip
    return talk


def left_in(folder: Path) -> list[str]:
    everything = b"".join(path.read_bytes() for path in folder.iterdir())
    return [word for word in ("periwinkle", "marmalade", "elderberry") if word.encode() in everything]


def test_an_export_has_everything_about_a_person(memory: Memory):
    memory.set_consent(ME, True)
    talk = memory.start(ME)
    stored = exchange(
        memory.load(ME, talk), "in turn", learned=["I live in sentence."], labels={"a": "in labels"}
    )
    stored = replace(
        stored,
        turns=(
            Turn(Role.SEEKER, "in turn", emotion="in emotion"),
            Turn(Role.SUPPORTER, "in answer", strategy="in strategy"),
        ),
        personas={**stored.personas, "supporter": Persona((PersonaSentence("in supporter"),))},
        situation="in situation",
    )
    memory.append(ME, talk, stored, after=0, why={"kind": "in why"})
    memory.edit_persona(ME, 1, "I live in edit.")
    found = memory.export(ME)
    text = json.dumps(found)  # JSON values only
    words = (
        "turn",
        "emotion",
        "answer",
        "strategy",
        "labels",
        "supporter",
        "situation",
        "why",
        "sentence",
        "edit",
    )
    assert [word for word in words if f"in {word}" not in text] == []
    assert (found["person"], found["consent"], found["format"]) == (ME, True, "allears memory 1")
    (sentence,) = found["persona"]
    assert sentence["source"] == {"conversation": talk, "turn": 1}
    assert (sentence["text"], sentence["edited"], sentence["remembered"]) == ("I live in edit.", True, True)
    assert [(each["text"], each["reason"]) for each in sentence["history"]] == [
        ("I live in sentence.", "edited")
    ]
    (conversation,) = found["conversations"]
    assert conversation["id"] == talk
    assert conversation["turns"][1]["why"] == {"kind": "in why"}
    assert conversation["turns"][0]["said"].endswith("+00:00")
    assert "memory_revision" not in text


def test_an_erased_person_leaves_nothing_behind(memory: Memory):
    memory.set_consent(ME, True)
    talk = memory.start(ME, request="r")
    say(memory, talk, "I sing.", "I sing.", request="m")
    memory.start(ME)
    assert memory.erase(ME) == Counts(conversations=2, turns=2, sentences=1)
    assert memory.export(ME) == {
        "format": "allears memory 1", "person": ME, "consent": False, "persona": [], "conversations": [],
    }  # fmt: skip
    assert memory.erase(ME) == Counts()


def test_a_late_message_does_not_bring_an_erased_person_back(memory: Memory):
    talk = memory.start(ME)
    late = exchange(memory.load(ME, talk), "Wait!")
    memory.erase(ME)
    with pytest.raises(Exception, match="there is no conversation"):
        memory.append(ME, talk, late, after=0)
    assert memory.export(ME)["conversations"] == []


def test_the_bytes_of_an_erased_person_are_gone_from_the_files(tmp_path: Path, open_memory: Open):
    memory = open_memory(str(tmp_path / "memory.db"))
    talk_a_lot(memory, ME)
    other = memory.start("somebody else")
    say(memory, other, "I make elderberry wine.", person="somebody else")
    assert left_in(tmp_path) == ["periwinkle", "marmalade", "elderberry"]
    memory._database.clean(thorough=False)
    size = (tmp_path / "memory.db").stat().st_size
    memory.erase(ME)
    assert left_in(tmp_path) == ["elderberry"]
    assert (tmp_path / "memory.db").stat().st_size < size / 2  # the room is given back
    assert memory.load("somebody else", other).turns[0].text == "I make elderberry wine."


def test_the_bytes_of_a_deleted_conversation_are_gone_from_the_files(tmp_path: Path, open_memory: Open):
    memory = open_memory(str(tmp_path / "memory.db"))
    other = memory.start(ME)
    talk = talk_a_lot(memory, ME)
    say(memory, other, "I make elderberry wine.")
    memory.delete_conversation(ME, talk)
    assert left_in(tmp_path) == ["elderberry"]


def test_the_bytes_of_a_forgotten_sentence_are_gone_from_the_files(tmp_path: Path, open_memory: Open):
    memory = open_memory(str(tmp_path / "memory.db"))
    talk = memory.start(ME)
    say(memory, talk, "Guess.", "I love marmalade.", "I grow periwinkle.")
    memory.edit_persona(ME, 1, "I love good marmalade.")
    memory.forget_sentence(ME, 1)
    assert left_in(tmp_path) == ["periwinkle"]


def test_the_bytes_of_an_undone_message_are_gone_from_the_files(tmp_path: Path, open_memory: Open):
    memory = open_memory(str(tmp_path / "memory.db"))
    talk = memory.start(ME)
    say(memory, talk, "I love marmalade.", labels={"word": "marmalade"}, why={"word": "marmalade"})
    say(memory, talk, "I grow periwinkle.")
    memory.undo(ME, talk)
    memory.undo(ME, talk)
    assert left_in(tmp_path) == []


def test_erasing_says_so_when_a_reader_keeps_traces_in_the_file(
    tmp_path: Path, open_memory: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("allears.memory.database.PATIENCE", 0.2)
    memory = open_memory(str(tmp_path / "memory.db"))
    say(memory, memory.start(ME), "I love marmalade.")
    reader = open_memory(str(tmp_path / "memory.db"))
    with reader._database.reading() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM memory_turns").all()
        with pytest.raises(UnavailableError, match="all of it is deleted, but traces may be left"):
            memory.erase(ME)
    assert memory.conversations(ME) == []
    assert memory.erase(ME) == Counts()
    assert left_in(tmp_path) == []


def test_a_conversation_goes_on_while_somebody_is_erased(memory: Memory):
    say(memory, memory.start("leaving"), "Goodbye.", person="leaving")
    talk = memory.start(ME)
    eraser = threading.Thread(target=memory.erase, args=("leaving",))
    eraser.start()
    for number in range(5):
        say(memory, talk, f"Message {number}.")
    eraser.join()
    assert len(memory.load(ME, talk).turns) == 10
    assert memory.conversations("leaving") == []
