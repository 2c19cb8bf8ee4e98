"""A study in its database: begun or found again, and written to by one at a time."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, insert, select, update

from allears.errors import AllearsError
from allears.memory.closing import Closing
from allears.memory.schema import take_turns
from allears.study.database import StudyDatabase
from allears.study.design import Design
from allears.study.rows import as_unit, encoded
from allears.study.tables import studies, units
from allears.study.units import Unit

Clock = Callable[[], float]


class OpenedStudy(Closing):
    """`url`: a SQLite file or PostgreSQL. `locked` and `tick` are for all who write to it, `pairing` too."""

    def __init__(
        self,
        url: str,
        design: Design,
        study_units: Sequence[Unit],
        digest: str,
        *,
        clock: Clock = time.time,
    ) -> None:
        self.design, self.clock = design, clock
        self._turn = threading.Lock()
        self.database = StudyDatabase(url)
        try:
            with self.database.writing() as connection:
                self.study = _begin(connection, design, study_units, digest)
                rows = connection.execute(
                    select(units).where(units.c.study == self.study).order_by(units.c.id)
                ).all()
                row = connection.execute(select(studies).where(studies.c.id == self.study)).one()
        except BaseException:
            self.database.close()
            raise
        self._units = {each.id: as_unit(each) for each in rows}
        self._secret, self.open_token = row.secret.encode(), row.open_token

    def close(self) -> None:
        self.database.close()

    @property
    def place(self) -> str:
        return self.database.place

    @contextmanager
    def locked(self) -> Iterator[Connection]:
        """One writer at a time in this study, whatever process it is in.

        Threads of this process queue up here first: SQLite lets those who wait only look again now and then.
        """
        with self._turn, self.database.writing() as connection:
            connection.execute(select(studies.c.id).where(studies.c.id == self.study).with_for_update())
            yield connection

    def tick(self, connection: Connection) -> int:
        """The next number of the study's writes."""
        connection.execute(
            update(studies).where(studies.c.id == self.study).values(ticks=studies.c.ticks + 1)
        )
        return int(connection.scalars(select(studies.c.ticks).where(studies.c.id == self.study)).one())


def _begin(connection: Connection, design: Design, study_units: Sequence[Unit], digest: str) -> int:
    """The study's row; a new one with its units, or the one that is there if nothing changed."""
    take_turns(connection)
    query = select(studies).where(studies.c.name == design.name)
    row = connection.execute(query).one_or_none()
    if row is not None:
        if row.digest != digest:
            raise AllearsError(
                f"the study {design.name!r} began with other items, outputs or questions than those that are frozen "
                "now; restore the folder frozen/, or begin a new study under another name"
            )
        return int(row.id)
    found = connection.execute(
        insert(studies).values(
            name=design.name,
            digest=digest,
            secret=secrets.token_hex(32),
            open_token=secrets.token_urlsafe(16),
            ticks=0,
        )
    )
    (key,) = found.inserted_primary_key or (0,)
    if study_units:
        connection.execute(
            insert(units),
            [
                {"study": key, "key": unit.key, "item": encoded(unit.item),
                 "systems": encoded(list(unit.systems)), "check_number": unit.check}
                for unit in study_units
            ],
        )  # fmt: skip
    return int(key)
