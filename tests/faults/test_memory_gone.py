"""The database goes away and comes back: a clear sentence while it is gone, and everything as before after."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import psycopg
import pytest

from allears.memory import UnavailableError
from databases import Open
from talking import ME, exchange, say


def test_a_stopped_postgresql_is_one_sentence_and_then_works_again(
    postgres_server: Any, postgres_url: str, open_memory: Open
):
    memory = open_memory(postgres_url)
    conversation = memory.start(ME)
    before = say(memory, conversation, "I live in Ghent.", "I live in Ghent.")
    updated = exchange(before, "Are you there?")
    postgres_server.stop()
    try:
        for attempt in (
            lambda: memory.append(ME, conversation, updated, after=2, request="m"),
            lambda: memory.load(ME, conversation),
            lambda: memory.start(ME),
            lambda: open_memory(postgres_url),
        ):
            with pytest.raises(UnavailableError, match="the server cannot be reached") as error:
                attempt()
            assert "\n" not in str(error.value)
    finally:
        postgres_server.ensure_postgres_running()
    assert memory.load(ME, conversation) == before
    memory.append(ME, conversation, updated, after=2, request="m")
    assert memory.load(ME, conversation).turns == updated.turns


def test_connections_that_the_server_dropped_are_not_noticed(postgres_url: str, open_memory: Open):
    memory = open_memory(postgres_url)
    conversation = memory.start(ME)
    with psycopg.connect(postgres_url, autocommit=True) as server:
        for number in range(3):
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            say(memory, conversation, f"Message {number}.")
    assert len(memory.load(ME, conversation).turns) == 6


def test_a_connection_lost_in_the_middle_of_a_message_stores_nothing_of_it(
    postgres_url: str, open_memory: Open, monkeypatch: pytest.MonkeyPatch
):
    memory = open_memory(postgres_url)
    conversation = memory.start(ME)
    loaded = memory.load(ME, conversation)

    def lose_the_connection(*_: object, **__: object) -> set[int]:
        with psycopg.connect(postgres_url, autocommit=True) as server:
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        return set()

    with monkeypatch.context() as patch:
        patch.setattr("allears.memory.learning.take_in", lose_the_connection)  # the last step of a write
        with pytest.raises(UnavailableError, match="cannot be reached"):
            memory.append(ME, conversation, exchange(loaded, "Hello."), after=0, request="m")
    assert memory.load(ME, conversation).turns == ()
    memory.append(ME, conversation, exchange(loaded, "Hello."), after=0, request="m")
    assert len(memory.load(ME, conversation).turns) == 2


def test_a_file_that_was_moved_away_is_one_sentence_and_nothing_goes_astray(
    tmp_path: Path, open_memory: Open
):
    folder, away = tmp_path / "here", tmp_path / "away"
    memory = open_memory(str(folder / "memory.db"))
    conversation = memory.start(ME)
    before = say(memory, conversation, "I live in Ghent.")
    folder.rename(away)
    for attempt in (
        lambda: memory.append(ME, conversation, exchange(before, "Hello?"), after=2),
        lambda: memory.load(ME, conversation),
    ):
        with pytest.raises(UnavailableError, match="the database is no longer there; put the file back"):
            attempt()
    assert not folder.exists()
    away.rename(folder)
    say(memory, conversation, "Hello again.")
    assert len(memory.load(ME, conversation).turns) == 4


def test_a_copy_that_was_restored_is_read_from_then_on(tmp_path: Path, open_memory: Open):
    file, copy = tmp_path / "memory.db", tmp_path / "copy.db"
    memory = open_memory(str(file))
    conversation = memory.start(ME)
    before = say(memory, conversation, "Keep this.")
    memory._database.clean(thorough=True)  # all of it in one file
    shutil.copy(file, copy)
    say(memory, conversation, "This will be lost.")
    memory.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)
    copy.replace(file)
    assert memory.load(ME, conversation) == before
    say(memory, conversation, "Going on.")
    assert memory.load(ME, conversation).turns[2].text == "Going on."


def test_a_damaged_file_is_one_sentence(tmp_path: Path, open_memory: Open):
    file = tmp_path / "memory.db"
    memory = open_memory(str(file))
    conversation = memory.start(ME)
    for number in range(20):
        say(memory, conversation, f"Message {number}. " * 300)
    memory._database.clean(thorough=True)
    memory.close()
    with file.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xff" * (file.stat().st_size - 8192))
    with pytest.raises(UnavailableError, match="the file is damaged; restore it from a copy"):
        open_memory(str(file)).load(ME, conversation)


@pytest.mark.parametrize("writable", [True, False])
def test_a_read_only_file_can_be_read_and_says_so_when_written(
    sqlite_url: str, open_memory: Open, writable: bool
):
    memory = open_memory(sqlite_url)
    conversation = memory.start(ME)
    connection = memory._database.engine.raw_connection()
    connection.cursor().execute(f"PRAGMA query_only = {not writable}")  # file rights do not bind root
    connection.close()
    assert memory.load(ME, conversation).turns == ()
    if writable:
        say(memory, conversation, "Hello.")
    else:
        with pytest.raises(UnavailableError, match="the file may not be written"):
            say(memory, conversation, "Hello.")
