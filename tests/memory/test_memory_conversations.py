"""Conversations are kept whole, in order, and only for the one they belong to."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.errors import AllearsError
from allears.memory import ConflictError, Counts, Memory, NotFoundError
from talking import ME, exchange, say, texts


def test_a_conversation_comes_back_as_it_was_stored(memory: Memory):
    conversation = memory.start(ME)
    loaded = memory.load(ME, conversation)
    updated = replace(
        exchange(loaded, "My bike was stolen.", learned=["I ride a bike."]),
        emotion="annoyed",
        situation="a theft",
        problem="loss",
        survey={"before": 4.0},
        labels={**loaded.labels, "safety": {"open": False, "levels": [1, 2]}},
        personas={
            "seeker": Persona((PersonaSentence("I ride a bike.", "turn 1"),)),
            "supporter": Persona((PersonaSentence("I am a cook.", "preset"),)),
        },
        turns=(
            Turn(Role.SEEKER, "My bike was stolen.", emotion="annoyed", author="a", intent="telling"),
            Turn(Role.SUPPORTER, "That hurts.", strategy="Reflection of feelings", feedback=4),
        ),
    )
    memory.append(ME, conversation, updated, after=0)
    assert memory.load(ME, conversation) == updated


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\0b",
        "half an emoji: \ud83d",
        "שלום, مرحبا",
        "😀" * 1000,
        "x" * 1_000_000,
        "<b>&amp;'\";--",
        "\r\n\t",
    ],
    ids=["empty", "NUL", "surrogate", "right to left", "emoji", "a megabyte", "markup", "white space"],
)
def test_any_text_comes_back_as_it_was(memory: Memory, text: str):
    conversation = memory.start(ME)
    stored = say(memory, conversation, text, labels={"note": text})
    assert (stored.turns[0].text, stored.labels["note"]) == (text, text)
    assert memory.conversations(ME)[0].turns == 2


def test_the_list_shows_the_latest_conversation_first(memory: Memory):
    first, second = memory.start(ME), memory.start(ME)
    say(memory, second, "I planted a tree.")
    say(memory, first, "My neighbour plays the trumpet at night and I have not slept for three whole days.")
    latest, earlier = memory.conversations(ME)
    assert (latest.id, latest.turns, earlier.id, earlier.turns) == (first, 2, second, 2)
    assert earlier.first_words == "I planted a tree."
    assert latest.first_words == "My neighbour plays the trumpet at night and I have not …"
    assert latest.started.tzinfo is UTC
    assert abs((datetime.now(UTC) - latest.last).total_seconds()) < 60


def test_first_words_are_the_persons_own(memory: Memory):
    conversation = memory.start(ME)
    greeted = replace(memory.load(ME, conversation), turns=(Turn(Role.SUPPORTER, "Hello."),))
    memory.append(ME, conversation, greeted, after=0)
    assert memory.conversations(ME)[0].first_words == ""
    say(memory, conversation, "a" * 100)
    assert memory.conversations(ME)[0].first_words == "a" * 60


def test_a_repeated_request_starts_one_conversation(memory: Memory):
    first = memory.start(ME, request="r1")
    assert memory.start(ME, request="r1") == first
    assert memory.start("somebody else", request="r1") != first
    assert memory.start(ME, request="r2") != first
    assert len(memory.conversations(ME)) == 2


def test_a_repeated_request_stores_a_message_once(memory: Memory):
    conversation = memory.start(ME)
    loaded = memory.load(ME, conversation)
    updated = exchange(loaded, "I passed!", learned=["I study law."])
    for _ in range(3):
        memory.append(ME, conversation, updated, after=0, request="m1")
    assert texts(memory.load(ME, conversation)) == ["I passed!", "Tell me more."]
    assert [each.text for each in memory.sentences(ME)] == ["I study law."]


def test_a_request_is_known_by_its_conversation(memory: Memory):
    first, second = memory.start(ME), memory.start(ME)
    say(memory, first, "One.", request="m1")
    say(memory, second, "Two.", request="m1")
    assert texts(memory.load(ME, second))[0] == "Two."


def test_a_writer_that_was_too_slow_is_told(memory: Memory):
    conversation = memory.start(ME)
    mine = theirs = memory.load(ME, conversation)
    memory.append(ME, conversation, exchange(mine, "Mine."), after=0)
    with pytest.raises(ConflictError, match="has 2 turns by now, not 0"):
        memory.append(ME, conversation, exchange(theirs, "Theirs."), after=0)
    assert texts(memory.load(ME, conversation)) == ["Mine.", "Tell me more."]


def test_a_writer_is_told_when_other_words_took_the_same_place(memory: Memory):
    conversation = memory.start(ME)
    stale = say(memory, conversation, "First try.")
    memory.undo(ME, conversation)
    say(memory, conversation, "Second try.")
    with pytest.raises(ConflictError, match="went on differently"):
        memory.append(ME, conversation, exchange(stale, "And then?"), after=2)


def test_a_conversation_is_not_stored_as_another(memory: Memory):
    first, second = memory.start(ME), memory.start(ME)
    with pytest.raises(AllearsError, match="cannot be stored as"):
        memory.append(ME, second, exchange(memory.load(ME, first), "Hm."), after=0)


def test_labels_can_change_without_a_turn(memory: Memory):
    conversation = memory.start(ME)
    stored = say(memory, conversation, "Hello.")
    memory.append(ME, conversation, replace(stored, labels={**stored.labels, "voice": "calm"}), after=2)
    assert memory.load(ME, conversation).labels["voice"] == "calm"


def test_reasons_belong_to_the_answer(memory: Memory):
    conversation = memory.start(ME)
    say(memory, conversation, "I cried.", why={"kind": "reply", "emotions": [["sad", 0.9]]})
    assert memory.why(ME, conversation, 2) == {"kind": "reply", "emotions": [["sad", 0.9]]}
    assert [memory.why(ME, conversation, turn) for turn in (0, 1, 3)] == [None, None, None]


def test_undo_takes_back_the_last_message_and_its_answer(memory: Memory):
    conversation = memory.start(ME)
    say(memory, conversation, "One.", labels={"safety": "calm"}, why={"kind": "reply"})
    before = memory.load(ME, conversation)
    say(memory, conversation, "Two.", labels={"safety": "crisis"})
    after = memory.undo(ME, conversation)
    assert after == memory.load(ME, conversation)
    assert (texts(after), after.labels["safety"]) == (texts(before), "calm")
    assert texts(memory.undo(ME, conversation)) == []
    assert "safety" not in memory.load(ME, conversation).labels
    with pytest.raises(AllearsError, match="nothing to undo"):
        memory.undo(ME, conversation)


def test_undo_keeps_what_was_chosen_before_the_first_message(memory: Memory):
    conversation = memory.start(ME)
    loaded = memory.load(ME, conversation)
    memory.append(ME, conversation, replace(loaded, labels={**loaded.labels, "voice": "calm"}), after=0)
    say(memory, conversation, "Hello.")
    assert memory.undo(ME, conversation).labels["voice"] == "calm"


def test_undo_unlearns_what_the_message_told(memory: Memory):
    memory.set_consent(ME, True)
    conversation = memory.start(ME)
    say(memory, conversation, "I live in Ghent.", "I live in Ghent.")
    say(
        memory,
        conversation,
        "I just moved to Bruges. I have a goat.",
        "I just moved to Bruges.",
        "I have a goat.",
    )
    assert memory.persona(ME).texts == ("I just moved to Bruges.", "I have a goat.")
    undone = memory.undo(ME, conversation)
    assert undone.personas["seeker"].texts == ("I live in Ghent.",)
    assert memory.persona(ME).texts == ("I live in Ghent.",)


def test_a_message_can_be_said_again_after_undo(memory: Memory):
    conversation = memory.start(ME)
    say(memory, conversation, "Helo.", request="m1")
    memory.undo(ME, conversation)
    say(memory, conversation, "Hello.", request="m2")
    assert texts(memory.load(ME, conversation))[0] == "Hello."


def test_a_deleted_conversation_is_gone_with_what_it_told(memory: Memory):
    memory.set_consent(ME, True)
    kept, gone = memory.start(ME), memory.start(ME)
    say(memory, kept, "I live in Ghent.", "I live in Ghent.")
    say(memory, gone, "I sing.", "I sing.", why={"kind": "reply"}, request="m")
    assert memory.delete_conversation(ME, gone) == Counts(conversations=1, turns=2, sentences=1)
    assert [each.id for each in memory.conversations(ME)] == [kept]
    assert memory.persona(ME).texts == ("I live in Ghent.",)
    with pytest.raises(NotFoundError):
        memory.load(ME, gone)


def test_nothing_is_known_of_people_who_never_came(memory: Memory):
    assert memory.conversations("nobody") == []
    assert memory.consent("nobody") is False
    assert memory.persona("nobody") == Persona()
    assert memory.sentences("nobody") == []
    assert memory.export("nobody")["conversations"] == []
    assert memory.erase("nobody") == Counts()


def test_a_memory_can_be_kept_in_memory_alone():
    with Memory(":memory:") as memory:
        conversation = memory.start(ME)
        say(memory, conversation, "Just between us.")
        assert memory.erase(ME) == Counts(1, 2, 0)


def test_the_file_is_in_the_data_folder_unless_the_environment_names_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr("platformdirs.user_data_path", lambda name: tmp_path / "data" / name)
    with Memory() as memory:
        memory.start(ME)
        assert memory.place == str(tmp_path / "data" / "allears" / "memory.db")
    monkeypatch.setenv("ALLEARS_DATABASE", str(tmp_path / "elsewhere.db"))
    with Memory() as memory:
        assert memory.conversations(ME) == []
    assert (tmp_path / "elsewhere.db").is_file()


def test_nobody_else_on_the_machine_can_read_the_file(tmp_path: Path):
    before = os.umask(0)
    try:
        with Memory(str(tmp_path / "folder" / "memory.db")) as memory:
            memory.start(ME)
            rights = {
                path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "folder").iterdir()
            }
    finally:
        os.umask(before)
    assert rights == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://somewhere/db", "unknown database 'mysql'"),
        ("postgresql://host:door/db", "is no database URL"),
        ("://nowhere", "is no database URL"),
        ("{tmp}/file.txt/memory.db", "the database cannot be opened"),
        ("{tmp}/file.txt", "this is not a database of allears"),
        ("postgresql://me:secret@127.0.0.1:1/db", "me:***@127.0.0.1:1/db: the server cannot be reached"),
    ],
)
def test_a_database_that_cannot_be_opened_is_one_sentence(tmp_path: Path, url: str, sentence: str):
    (tmp_path / "file.txt").write_text("This is a diary, not a database. " * 40)
    with pytest.raises(AllearsError) as error:
        Memory(url.format(tmp=tmp_path))
    assert sentence in str(error.value)
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_database_in_postgresql_is_one_sentence(postgres_server):
    with pytest.raises(AllearsError, match=r'refused the connection \(database "nowhere" does not exist\)'):
        Memory(postgres_server.get_uri(database="nowhere"))


def test_a_missing_driver_is_one_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(AllearsError, match=r"pip install 'allears\[postgres\]'"):
        Memory("postgresql://somewhere/db")


def test_a_self_made_conversation_stores_its_turns(memory: Memory):
    name = memory.start(ME)
    memory.append(ME, name, exchange(Conversation(name, ()), "Hello.", learned=["I sing."]), after=0)
    assert memory.load(ME, name).personas["seeker"].texts == ("I sing.",)
