"""A full disk is one clear sentence, and nothing of the message is half there."""

from __future__ import annotations

import resource
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import psycopg
import pytest
from memory_writer import running

from allears.memory import Memory, UnavailableError
from databases import Open
from talking import ME, exchange, say

LONG = "I have a lot on my mind. " * 4000  # a hundred thousand characters: more than the room that is left


def test_a_full_sqlite_database_takes_all_or_nothing(sqlite_url: str, open_memory: Open):
    memory = open_memory(sqlite_url)
    memory.set_consent(ME, True)
    conversation = memory.start(ME)
    before = say(memory, conversation, "I live in Ghent.", "I live in Ghent.")
    connection = memory._database.engine.raw_connection()
    pages = connection.cursor().execute("PRAGMA page_count").fetchone()[0]
    connection.cursor().execute(f"PRAGMA max_page_count = {pages + 3}")
    connection.close()  # back to the pool: the next user has this limit
    updated = exchange(before, LONG, learned=["I have a goat."])
    with pytest.raises(UnavailableError) as error:
        memory.append(ME, conversation, updated, after=2, request="m")
    assert str(error.value) == (
        f"{memory.place}: there is no room left on its disk; free some space and try again: "
        "nothing of this message was stored"
    )
    assert memory.load(ME, conversation) == before
    say(memory, conversation, "Short then.")  # there is room for this
    memory.undo(ME, conversation)
    memory._database.engine.dispose()  # space was freed
    memory.append(ME, conversation, updated, after=2, request="m")
    assert memory.load(ME, conversation).turns == updated.turns
    assert memory.persona(ME).texts == ("I live in Ghent.", "I have a goat.")


def write_until_the_disk_refuses(answer: Connection, url: str, conversation: str, limit: int) -> None:
    """Files may not grow beyond a limit, so the write to the log fails in the middle, as on a full disk."""
    memory = Memory(url)
    loaded = memory.load(ME, conversation)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        memory.append(ME, conversation, exchange(loaded, LONG), after=len(loaded.turns), request="m")
        answer.send("stored")
    except UnavailableError as error:
        answer.send(str(error))
    answer.recv()  # until it was seen that nothing is there
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    memory.append(ME, conversation, exchange(loaded, LONG), after=len(loaded.turns), request="m")
    answer.send("stored")


@pytest.mark.parametrize("room", [0, 4096, 20_000, 60_000])
def test_a_write_that_breaks_off_leaves_the_file_whole(tmp_path: Path, open_memory: Open, room: int):
    file = tmp_path / "memory.db"
    memory = open_memory(str(file))
    conversation = memory.start(ME)
    before = say(memory, conversation, "Hello.")
    limit = max(path.stat().st_size for path in tmp_path.iterdir() if path.suffix != ".db-shm") + room
    arguments = (str(file), conversation, limit)
    with running(write_until_the_disk_refuses, *arguments) as (_, pipe):
        assert "the disk did not take it" in pipe.recv()
        assert memory.load(ME, conversation) == before
        pipe.send("there is room again")
        assert pipe.recv() == "stored"
    assert [len(turn.text) for turn in memory.load(ME, conversation).turns][2] == len(LONG)
    with memory._database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").all() == [("ok",)]


def test_a_full_postgresql_takes_all_or_nothing(postgres_url: str, open_memory: Open):
    memory = open_memory(postgres_url)
    conversation = memory.start(ME)
    before = say(memory, conversation, "Hello.")
    with psycopg.connect(postgres_url, autocommit=True) as server:
        # PostgreSQL's own code for a full disk, on the last table that a message is written to
        server.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE 'could not extend file' USING ERRCODE = '53100'; END $$"
        )
        server.execute(
            "CREATE TRIGGER full_disk BEFORE INSERT ON memory_beliefs EXECUTE FUNCTION full_disk()"
        )
        updated = exchange(before, "I sing.", learned=["I sing."])
        with pytest.raises(UnavailableError, match="there is no room left on its disk"):
            memory.append(ME, conversation, updated, after=2, request="m")
        assert memory.load(ME, conversation) == before
        assert memory.sentences(ME) == []
        server.execute("DROP TRIGGER full_disk ON memory_beliefs")
    memory.append(ME, conversation, updated, after=2, request="m")
    assert memory.load(ME, conversation).turns == updated.turns


def test_erasing_on_a_full_disk_says_that_traces_may_be_left(
    sqlite_url: str, open_memory: Open, monkeypatch: pytest.MonkeyPatch
):
    memory = open_memory(sqlite_url)
    say(memory, memory.start(ME), "Hello.")

    def no_room(*_: object) -> None:
        raise UnavailableError("there is no room left on its disk")

    monkeypatch.setattr("allears.memory.database._clean", no_room)
    with pytest.raises(UnavailableError, match="all of it is deleted, but traces may be left in the file"):
        memory.erase(ME)
    assert memory.conversations(ME) == []
