"""The study's database: the same connections and transactions as the memory's, with tables of its own."""

from __future__ import annotations

from sqlalchemy import Connection, insert, inspect, select

from allears.errors import AllearsError
from allears.memory.database import Database
from allears.memory.database_errors import explained
from allears.memory.schema import take_turns
from allears.study.tables import VERSION, metadata, versions


class StudyDatabase(Database):
    """Creates its tables at the first opening. What is written is on the disk when a transaction has ended."""

    def _prepare(self) -> None:
        with explained(self.place):
            with self.engine.connect() as connection:
                ready = inspect(connection).has_table(versions.name) and _version(connection) == VERSION
            if not ready:
                with self.engine.connect() as connection:
                    locked = connection.execution_options(writing=True)
                    with locked.begin():
                        _create(locked)
        if self.file is not None:
            self._inode = self.file.stat().st_ino


def _create(connection: Connection) -> None:
    take_turns(connection)
    metadata.create_all(connection)
    if _version(connection) is None:
        connection.execute(insert(versions).values(version=VERSION))


def _version(connection: Connection) -> int | None:
    found = connection.execute(select(versions.c.version)).scalar_one_or_none()
    if found is not None and found != VERSION:
        raise AllearsError(
            f"this database holds studies of another allears (version {found}, here {VERSION}); "
            "update allears, or name another database"
        )
    return found
