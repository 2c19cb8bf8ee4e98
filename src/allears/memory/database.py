"""One database, SQLite or PostgreSQL: connections, transactions, and what its errors mean to a person."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import QueuePool

from allears.errors import AllearsError
from allears.memory import schema
from allears.memory.database_errors import explained
from allears.memory.errors import UnavailableError

PATIENCE = 10.0  # seconds to wait for another writer, or for a server that does not answer
_CLEANING_PATIENCE = 1.0  # seconds to wait for readers before a small clean-up is left to the next one
_ONE_CONNECTION = {"poolclass": QueuePool, "pool_size": 1, "max_overflow": 0}


class Database:
    """Opens (and if need be creates or upgrades) the database at a URL, or in a file."""

    def __init__(self, url: str) -> None:
        self.url = _parsed(url)
        self.file = _file_of(self.url)
        if self.file is not None:
            _make_private(self.file)
        self.engine = _engine(self.url, self.file)
        self._inode = 0
        self._prepare()

    @property
    def place(self) -> str:
        """Where it is, in words for a person: never with a password."""
        return str(self.file) if self.file is not None else self.url.render_as_string(hide_password=True)

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One unchanging view of the database."""
        options: dict[str, Any] = {} if self._is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with self._connection(options) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """All of it is stored when the block ends, or nothing."""
        with self._connection({"writing": True}) as connection:
            yield connection

    def clean(self, *, thorough: bool) -> None:
        """Leave no trace of deleted rows in a SQLite file.

        Deleting overwrites them in the file itself (`secure_delete`), so what is left to empty is the write-ahead
        log. A thorough cleaning also writes the file anew. PostgreSQL frees its space by itself.
        """
        if not self._is_sqlite:
            return
        try:
            with explained(self.place), closing(self.engine.raw_connection()) as connection:
                _clean(connection.cursor(), thorough)
        except UnavailableError as error:
            if thorough:
                raise UnavailableError(
                    f"all of it is deleted, but traces may be left in the file {self.place}: {error}; "
                    "erase once more when that is mended"
                ) from error
            # a small clean-up waits for the next one: whoever reads now must not hold up a conversation

    @property
    def _is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @contextmanager
    def _connection(self, options: dict[str, Any]) -> Iterator[Connection]:
        self._look_for_the_file()
        with explained(self.place), self.engine.connect() as connection:
            chosen = connection.execution_options(**options)
            with chosen.begin():
                yield chosen

    def _prepare(self) -> None:
        with explained(self.place):
            with self.engine.connect() as connection:
                current = schema.is_current(connection)
            if not current:
                with self.engine.connect() as connection:
                    locked = connection.execution_options(writing=True)
                    with locked.begin():
                        schema.upgrade(locked)
        if self.file is not None:
            self._inode = self.file.stat().st_ino

    def _look_for_the_file(self) -> None:
        """Connections outlive their file: without a look, messages would be stored in a file nobody can find."""
        if self.file is None:
            return
        try:
            inode = self.file.stat().st_ino
        except OSError as error:
            raise UnavailableError(
                f"{self.file}: the database is no longer there; put the file back, or start again for a new one"
            ) from error
        if inode != self._inode:  # another file was put there, a restored copy perhaps
            self.engine.dispose()
            self._prepare()


def _parsed(text: str) -> URL:
    if text == ":memory:":
        return make_url("sqlite://")
    if "://" not in text:
        return URL.create("sqlite", database=str(Path(text).expanduser().absolute()))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise AllearsError(
            "ALLEARS_DATABASE is no database URL; expected postgresql://... or a file"
        ) from error
    backend = url.get_backend_name()
    if backend == "sqlite":
        return url
    if backend not in ("postgresql", "postgres"):
        raise AllearsError(f"unknown database {backend!r}; allears stores in a SQLite file or in PostgreSQL")
    return url.set(drivername="postgresql+psycopg")


def _file_of(url: URL) -> Path | None:
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    return Path(str(url.database)).absolute()


def _make_private(file: Path) -> None:
    """What people tell is for nobody else on the machine. SQLite gives its other files the same rights."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise UnavailableError(f"{file}: the database cannot be opened ({error.strerror})") from error


def _engine(url: URL, file: Path | None) -> Engine:
    # parameters are what people said: they must not get into an error's text, nor into a log
    shared: dict[str, Any] = {"hide_parameters": True}
    if url.get_backend_name() == "sqlite":
        options = {} if file is not None else _ONE_CONNECTION
        connect = {"timeout": PATIENCE, "check_same_thread": False}
        engine = create_engine(url, connect_args=connect, **options, **shared)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    connect = {} if "connect_timeout" in url.query else {"connect_timeout": int(PATIENCE)}
    try:
        return create_engine(url, connect_args=connect, pool_pre_ping=True, **shared)
    except ModuleNotFoundError as error:
        raise AllearsError("PostgreSQL needs its driver: pip install 'allears[postgres]'") from error


def _set_up_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions begin and end where we say
    try:
        _write_ahead(connection)
        for setting in (
            "synchronous = FULL",  # what was acknowledged is on the disk
            "foreign_keys = ON",
            "secure_delete = ON",  # what is deleted is overwritten
        ):
            connection.execute(f"PRAGMA {setting}")
    except sqlite3.Error:
        connection.close()
        raise


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Readers do not wait for writers. SQLite's own patience does not cover this switch, so it is asked again."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.02)


def _begin_sqlite(connection: Connection) -> None:
    # a writer takes its turn at the beginning: nobody finds out at the end that somebody was faster
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _clean(cursor: Any, thorough: bool) -> None:
    try:
        if thorough:
            cursor.execute("VACUUM")
        else:
            cursor.execute(f"PRAGMA busy_timeout = {int(1000 * _CLEANING_PATIENCE)}")
        busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        cursor.execute(f"PRAGMA busy_timeout = {int(1000 * PATIENCE)}")
    if busy:
        raise UnavailableError("another program is reading the database")
