"""Processes that talk to a memory and die. They run in a fork server that has loaded everything once."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

from sqlalchemy import event

from allears.memory import Memory
from talking import ME, exchange

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["allears.memory", "alembic.command", "psycopg", "memory_writer"])


@contextmanager
def running(target: Callable[..., None], *arguments: Any) -> Iterator[tuple[ForkServerProcess, Connection]]:
    """A process with a pipe for what it acknowledges, and for what it waits for; killed when the block ends."""
    ours, theirs = processes.Pipe()
    process = processes.Process(target=target, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        yield process, ours
    finally:
        process.kill()
        process.join()
        ours.close()


def message(number: int) -> str:
    return f"This is message {number}."


def told(number: int) -> list[str]:
    """What a message tells about the person: every tenth does."""
    return [f"I have goat {number}."] if number % 10 == 0 else []


def write(acknowledged: Connection, url: str, conversation: str, first: int, last: int) -> None:
    """Send messages `first` to `last`, and say so after each that is stored.

    A message has the same request id and the same place in the conversation however often it is sent.
    """
    memory = Memory(url)
    loaded = memory.load(ME, conversation)
    for number in range(first, last):
        before = loaded.turns[: 2 * number]
        updated = exchange(
            replace(loaded, turns=before), message(number), f"Answer {number}.", learned=told(number)
        )
        memory.append(ME, conversation, updated, after=2 * number, request=f"message {number}")
        acknowledged.send(number)
        loaded = updated


def open_only(acknowledged: Connection, url: str) -> None:
    """Open a database, which creates its tables."""
    acknowledged.send("opening")
    Memory(url).close()
    acknowledged.send("opened")


def die_at(acknowledged: Connection, url: str, conversation: str, moment: str) -> None:
    """Send a message and die: before it is stored, or before anybody is told that it is."""
    memory = Memory(url)
    loaded = memory.load(ME, conversation)
    if moment == "before the commit":
        event.listen(memory._database.engine, "commit", lambda _: os.kill(os.getpid(), signal.SIGKILL))
    memory.append(ME, conversation, exchange(loaded, message(0)), after=0, request="message 0")
    os.kill(os.getpid(), signal.SIGKILL)
    acknowledged.send("never")
