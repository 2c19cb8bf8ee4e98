"""Which revision a database has, and how it gets to ours. Alembic is loaded only when there is something to do."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from allears.errors import AllearsError
from allears.memory.tables import VERSION_TABLE

REVISIONS = ("0001", "0002", "0003")  # oldest first, as in migrations/versions
HEAD = REVISIONS[-1]
MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x616C6C65617273  # "allears": a number nobody else in a shared PostgreSQL is likely to lock


def is_current(connection: Connection) -> bool:
    """Whether there is nothing to do. A database that a newer allears has changed is refused."""
    return _revision(connection) == HEAD


def upgrade(connection: Connection, revision: str = HEAD) -> None:
    """Create the tables or bring them up to a revision, in the caller's transaction, one process at a time."""
    take_turns(connection)
    if _revision(connection) == revision:
        return  # somebody else was faster
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def take_turns(connection: Connection) -> None:
    """Until the transaction ends, no other process sets up the database. SQLite's writers take turns anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _LOCK})


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one_or_none()
    if found is not None and found not in REVISIONS:
        raise AllearsError(
            f"this database was written by a newer allears (its revision {found} is not known here); "
            "update allears: pip install --upgrade allears"
        )
    return found
