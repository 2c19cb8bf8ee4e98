"""What a database's errors mean to the person who sees them: one sentence, and what was stored before stays."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as NoFreeConnectionError

from allears.memory.errors import UnavailableError

_FULL = "there is no room left on its disk; free some space and try again: nothing of this message was stored"
_SQLITE = {  # by the beginning of SQLite's name for the error
    "SQLITE_FULL": _FULL,
    "SQLITE_BUSY": "another program has been writing for too long; try again when it is done",
    "SQLITE_LOCKED": "another program has been writing for too long; try again when it is done",
    "SQLITE_READONLY": "the file may not be written; check the rights of the file and its folder",
    "SQLITE_CANTOPEN": "the file cannot be opened; check that its folder exists and may be written",
    "SQLITE_PERM": "the file may not be opened; check its rights",
    "SQLITE_NOTADB": "this is not a database of allears; move the file away or name another in ALLEARS_DATABASE",
    "SQLITE_CORRUPT": "the file is damaged; restore it from a copy, or move it away to begin anew",
    "SQLITE_IOERR": "the disk did not take it; check that it has room and works, then try again",
}
_POSTGRESQL = {  # by SQLSTATE
    "53100": _FULL,
    "42501": "the user may not do this here; it needs the rights to create and change tables",
    "25006": "the server takes no writes now; check that this is not a read-only replica",
}
_GONE = "the server cannot be reached; try again when it is back"


@contextmanager
def explained(place: str) -> Iterator[None]:
    """Errors of the database come out as an `UnavailableError`."""
    try:
        yield
    except IntegrityError:
        raise  # no database's fault but ours
    except DBAPIError as error:
        sentence = _sentence(error.orig)
        if sentence is None:
            raise  # a mistake in our own SQL
        raise UnavailableError(f"{place}: {sentence}") from error
    except NoFreeConnectionError as error:
        raise UnavailableError(f"{place}: too many requests at once; try again") from error


def _sentence(error: BaseException | None) -> str | None:
    if isinstance(error, sqlite3.Error):
        name = getattr(error, "sqlite_errorname", "")
        return next((sentence for start, sentence in _SQLITE.items() if name.startswith(start)), None)
    state = getattr(error, "sqlstate", None)
    if state is None or state[:2] in ("08", "57"):  # no answer at all; lost; shut down
        return _unreachable(str(error)) if _is_operational(error) else None
    return next((sentence for start, sentence in _POSTGRESQL.items() if state.startswith(start)), None)


def _unreachable(message: str) -> str:
    _, fatal, told = message.partition("FATAL:")
    if not fatal:
        return _GONE
    return f"the server refused the connection ({told.strip().splitlines()[0]}); check the URL, or try again"


def _is_operational(error: BaseException | None) -> bool:
    return any(kind.__name__ == "OperationalError" for kind in type(error).__mro__)
