"""Several writers and a clock that jumps: one order, the same for everybody."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from multiprocessing.connection import Connection

import pytest
from memory_writer import running

from allears.memory import ConflictError, Memory, UnavailableError, clock
from databases import Open
from talking import ME, exchange, say, texts


def test_of_two_writers_on_one_conversation_one_is_told(url: str, open_memory: Open):
    memories = [open_memory(url), open_memory(url)]
    conversation = memories[0].start(ME)
    together = threading.Barrier(2)

    def write(number: int) -> str:
        loaded = memories[number].load(ME, conversation)
        together.wait()
        try:
            memories[number].append(
                ME, conversation, exchange(loaded, f"Writer {number}."), after=len(loaded.turns)
            )
        except ConflictError:
            return "told"
        return "stored"

    for round_ in range(1, 11):
        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(write, range(2))) == ["stored", "told"]
        assert len(memories[0].load(ME, conversation).turns) == 2 * round_


def test_the_same_message_sent_twice_at_once_is_stored_once(url: str, open_memory: Open):
    memories = [open_memory(url), open_memory(url)]
    conversation = memories[0].start(ME)
    together = threading.Barrier(2)

    def write(number: int, message: int) -> None:
        loaded = memories[number].load(ME, conversation)
        together.wait()
        updated = exchange(loaded, f"Message {message}.")
        memories[number].append(ME, conversation, updated, after=2 * message, request=f"message {message}")

    for message in range(10):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(write, range(2), [message, message]))
    assert texts(memories[0].load(ME, conversation))[::2] == [f"Message {number}." for number in range(10)]


def write_with_retries(done: Connection, url: str, conversation: str, name: str, count: int) -> None:
    with Memory(url) as memory:
        for number in range(count):
            while True:
                try:
                    say(memory, conversation, f"{name} {number}", request=f"{name} {number}")
                    break
                except ConflictError:
                    continue
    done.send("done")


def test_processes_that_try_again_all_get_their_messages_in(url: str, open_memory: Open):
    memory = open_memory(url)
    conversation = memory.start(ME)
    with (
        running(write_with_retries, url, conversation, "first", 15) as (_, first),
        running(write_with_retries, url, conversation, "second", 15) as (_, second),
    ):
        assert (first.recv(), second.recv()) == ("done", "done")
    said = texts(memory.load(ME, conversation))[::2]
    for name in ("first", "second"):
        assert [each for each in said if each.startswith(name)] == [
            f"{name} {number}" for number in range(15)
        ]


def test_what_is_being_read_does_not_change_meanwhile(url: str, open_memory: Open):
    reader, writer = open_memory(url), open_memory(url)
    conversation = writer.start(ME)
    say(writer, conversation, "Before.")
    with reader._reading() as rows:
        before = rows.load(*rows.conversation(ME, conversation))
        say(writer, conversation, "Meanwhile.", "I sing.")
        assert rows.load(*rows.conversation(ME, conversation)) == before
    assert len(reader.load(ME, conversation).turns) == 4


def test_a_person_can_talk_in_many_conversations_at_once(url: str, open_memory: Open):
    memory = open_memory(url)
    memory.set_consent(ME, True)

    def talk(number: int) -> list[str]:
        conversation = memory.start(ME)
        for turn in range(4):
            say(memory, conversation, f"{number} {turn}", f"I have goat {number} {turn}.")
        return texts(memory.load(ME, conversation))[::2]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(talk, range(8)))
    assert found == [[f"{number} {turn}" for turn in range(4)] for number in range(8)]
    assert len(memory.persona(ME).texts) == 32


def test_two_starts_with_one_request_are_one_conversation(url: str, open_memory: Open):
    memory = open_memory(url)
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: memory.start(ME, request="r"), range(8)))) == 1


def test_a_writer_that_never_ends_is_one_sentence(
    sqlite_url: str, open_memory: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("allears.memory.database.PATIENCE", 0.2)
    memory, other = open_memory(sqlite_url), open_memory(sqlite_url)
    conversation = memory.start(ME)
    with (
        other._database.writing(),
        pytest.raises(UnavailableError, match="another program has been writing for too long"),
    ):
        say(memory, conversation, "Hello.")
    say(memory, conversation, "Hello.")


@pytest.mark.parametrize("jump", [timedelta(days=-400), timedelta(days=400), timedelta(0)])
def test_a_clock_that_jumps_changes_no_order_and_no_id(
    url: str, open_memory: Open, monkeypatch: pytest.MonkeyPatch, jump: timedelta
):
    memory = open_memory(url)
    memory.set_consent(ME, True)
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 6, 1))
    older, newer = memory.start(ME), memory.start(ME)
    say(memory, older, "One.", "I live in Ghent.")
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 6, 1) + jump)
    say(memory, older, "Two.", "I have a goat.")
    say(memory, newer, "Three.", "I just moved to Bruges.")
    third = memory.start(ME)
    assert texts(memory.load(ME, older))[::2] == ["One.", "Two."]
    assert [each.id for each in memory.conversations(ME)] == [third, newer, older]
    assert memory.persona(ME).texts == ("I have a goat.", "I just moved to Bruges.")
    assert len({older, newer, third}) == 3
    assert texts(memory.undo(ME, older)) == ["One.", "Tell me more."]
