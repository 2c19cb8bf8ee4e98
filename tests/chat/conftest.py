"""A chat on a real memory in a temporary file, with a scripted listener."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from allears.chat.session import ChatSession
from allears.memory import Memory
from scripted_listener import ScriptedListener


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def memory(database: Path) -> Iterator[Memory]:
    with Memory(str(database)) as opened:
        yield opened


@pytest.fixture
def listener() -> ScriptedListener:
    return ScriptedListener()


@pytest.fixture
def chat(memory: Memory, listener: ScriptedListener) -> ChatSession:
    return ChatSession(lambda: listener, memory)
