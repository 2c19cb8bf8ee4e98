"""A writer dies at any moment: what was acknowledged is there, nothing is there twice, the database opens clean."""

from __future__ import annotations

import random
import signal
import sqlite3
import time

import pytest
from memory_writer import die_at, message, open_only, running, write

from allears.memory import Memory
from databases import Open
from talking import ME

MESSAGES = 200


def check_file(url: str) -> None:
    """The file is whole, as SQLite sees it."""
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        try:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        finally:
            connection.close()


def test_no_acknowledged_message_is_lost_and_none_is_stored_twice(url: str):
    chance = random.Random(20)
    with Memory(url) as memory:
        conversation = memory.start(ME)
    acknowledged, kills, lives = -1, 0, 0
    while acknowledged < MESSAGES - 1:
        lives += 1
        assert lives < 100, "messages are not getting through"
        arguments = (url, conversation, acknowledged + 1, MESSAGES)
        with running(write, *arguments) as (process, pipe):
            for _ in range(chance.randint(1, 24)):
                try:
                    acknowledged = max(acknowledged, pipe.recv())
                except EOFError:  # all messages are sent
                    break
            else:
                time.sleep(chance.uniform(0, 0.02))  # somewhere between two acknowledgements
                process.kill()
                kills += 1
                process.join()
            while pipe.poll():  # what it said before it died
                try:
                    acknowledged = max(acknowledged, pipe.recv())
                except EOFError:
                    break
        check_file(url)
        with Memory(url) as memory:
            found = [turn.text for turn in memory.load(ME, conversation).turns]
        expected = [text for number in range(MESSAGES) for text in (message(number), f"Answer {number}.")]
        assert found == expected[: len(found)]
        assert len(found) >= 2 * (acknowledged + 1)
        assert len(found) % 2 == 0
    assert kills >= 8
    assert len(found) == 2 * MESSAGES
    with Memory(url) as memory:
        assert [each.turn for each in memory.sentences(ME)] == list(range(1, 2 * MESSAGES, 20))


@pytest.mark.parametrize(("moment", "stored"), [("before the commit", 0), ("before the answer", 2)])
def test_a_message_whose_fate_is_unknown_can_be_sent_again(
    url: str, open_memory: Open, moment: str, stored: int
):
    memory = open_memory(url)
    conversation = memory.start(ME)
    with running(die_at, url, conversation, moment) as (process, pipe):
        process.join()
        assert process.exitcode == -signal.SIGKILL
        with pytest.raises(EOFError):
            pipe.recv()
    assert len(memory.load(ME, conversation).turns) == stored
    with running(write, url, conversation, 0, 1) as (_, pipe):
        assert pipe.recv() == 0
    assert memory.load(ME, conversation).turns[0].text == message(0)
    assert len(memory.load(ME, conversation).turns) == 2


def test_a_database_that_was_being_created_is_created_by_the_next(url: str, open_memory: Open):
    chance = random.Random(5)
    for _ in range(8):
        with running(open_only, url) as (process, pipe):
            assert pipe.recv() == "opening"
            time.sleep(chance.uniform(0, 0.06))
            process.kill()
    check_file(url)
    memory = open_memory(url)
    conversation = memory.start(ME)
    assert memory.load(ME, conversation).turns == ()
