"""Everything a study keeps: who takes part, who has which unit, what they answered.

Every method is one transaction. Whoever assigns or answers holds the study's row meanwhile, so units are given out one
after the other however many raters there are; an answer that was acknowledged is on the disk.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from allears.errors import AllearsError
from allears.memory.schema import take_turns
from allears.study import assignment
from allears.study.answers import checked, vote
from allears.study.assignment import RaterState, UnitState
from allears.study.database import StudyDatabase
from allears.study.design import Design
from allears.study.errors import NotKnownError, OutOfStepError, TooQuickError
from allears.study.tables import assignments, lines, pair_lines, pairs, raters, situations, studies, units
from allears.study.units import Unit

NEW, CONSENTED, READY = "new", "consented", "ready"
SCREENED, DECLINED, WITHDRAWN = "screened", "declined", "withdrawn"
OPEN, COUNTED, SPARE, RETURNED = "open", "counted", "spare", "returned"
_LEFT = (SCREENED, DECLINED, WITHDRAWN)
_CODE_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that look alike

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Rater:
    """A participant, by a random name."""

    id: int
    name: str
    state: str
    source: str
    code: str


@dataclass(frozen=True, slots=True)
class Given:
    """A unit in a rater's hands. `key` is random; `order` says which of the unit's systems is shown first."""

    id: int
    key: str
    unit: Unit
    order: tuple[int, ...]
    given: float
    answered: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    of: int


@dataclass(frozen=True, slots=True)
class Answered:
    """One rater's answers to one unit, for the analysis. `state`: counted, spare (more than were wanted) or screened
    (of a rater who failed the attention checks)."""

    rater: str
    unit: Unit
    order: tuple[int, ...]
    answers: Mapping[str, Any]
    seconds: float
    number: int
    state: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """How far a study is."""

    units: int
    wanted: int  # answers, fourth raters included
    counted: int
    open: int
    spare: int
    raters: int
    screened: int


class Store:
    """A study in a database. `url`: a SQLite file or PostgreSQL."""

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
        self._units = {each.id: _unit(each) for each in rows}
        self._secret, self.open_token = row.secret.encode(), row.open_token

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.database.close()

    @property
    def place(self) -> str:
        return self.database.place

    # --- people

    def new_link(self) -> str:
        """The token of a link for one person."""
        return self._new_rater(secrets.token_urlsafe(24), "link")

    def enter(self, open_token: str, *, prolific: str = "", mturk: str = "") -> str:
        """A token for whoever comes by the open link. The same person of Prolific or MTurk gets the same again."""
        if not hmac.compare_digest(open_token.encode(), self.open_token.encode()):
            raise NotKnownError("This link is not complete; please open it again from where you found it.")
        if prolific or mturk:
            source = "prolific" if prolific else "mturk"
            return self._new_rater(self.platform_token(source, prolific or mturk), source)
        return self._new_rater(secrets.token_urlsafe(24), "open")

    def platform_token(self, source: str, person: str) -> str:
        """What stands for a person of another platform; from it their id cannot be found."""
        return hmac.new(self._secret, f"{source}:{person}".encode(), hashlib.sha256).hexdigest()

    def rater(self, token: str) -> Rater:
        with self.database.reading() as connection:
            query = select(raters).where(raters.c.study == self.study, raters.c.token == _digest(token))
            row = connection.execute(query).one_or_none()
        if row is None:
            raise NotKnownError("This link is not known here; please open it again from where you found it.")
        return _rater(row)

    def again(self, rater: Rater) -> Rater:
        """The same rater as they stand now."""
        with self.database.reading() as connection:
            return _rater(connection.execute(select(raters).where(raters.c.id == rater.id)).one())

    def find(self, who: str) -> Rater:
        """A rater by name, return code, token, or their id on Prolific or MTurk."""
        tokens = [_digest(who), *(_digest(self.platform_token(each, who)) for each in ("prolific", "mturk"))]
        with self.database.reading() as connection:
            query = select(raters).where(
                raters.c.study == self.study,
                (raters.c.name == who) | (raters.c.code == who) | raters.c.token.in_(tokens),
            )
            row = connection.execute(query).first()
        if row is None:
            raise AllearsError(
                f"there is no rater {who!r}; give a name of `allears study people`, a return code, or the id on "
                "Prolific or MTurk"
            )
        return _rater(row)

    def people(self) -> list[tuple[Rater, int]]:
        """Everybody, with how many units they answered."""
        with self.database.reading() as connection:
            rows = connection.execute(
                select(raters).where(raters.c.study == self.study).order_by(raters.c.id)
            ).all()
            query = select(assignments.c.rater).where(assignments.c.state.in_((COUNTED, SPARE)))
            done = Counter(connection.scalars(query))
        return [(_rater(row), done.get(row.id, 0)) for row in rows]

    def set_state(self, rater: Rater, state: str, *, after: Sequence[str]) -> None:
        """Move on, if the rater stands where that is possible; otherwise nothing happens."""
        with self.locked() as connection:
            connection.execute(
                update(raters)
                .where(raters.c.id == rater.id, raters.c.state.in_(tuple(after)))
                .values(state=state)
            )

    def withdraw(self, rater: Rater) -> int:
        """Delete everything a person answered and wrote. What is left says only that they withdrew."""
        with self.locked() as connection:
            mine = select(situations.c.id).where(situations.c.rater == rater.id)
            talks = select(pairs.c.id).where(pairs.c.first.in_(mine) | pairs.c.second.in_(mine))
            # a conversation cannot be kept without one of its two people
            connection.execute(delete(pair_lines).where(pair_lines.c.pair.in_(talks)))
            running = pairs.c.id.in_(talks) & (pairs.c.state == "talking")
            connection.execute(update(pairs).where(running).values(state="left", version=pairs.c.version + 1))
            gone = connection.execute(delete(assignments).where(assignments.c.rater == rater.id)).rowcount
            gone += connection.execute(delete(situations).where(situations.c.rater == rater.id)).rowcount
            connection.execute(
                update(raters)
                .where(raters.c.id == rater.id)
                .values(state=WITHDRAWN, offer=None, failed=0, entered=0.0)
            )
        self.database.clean(thorough=False)
        return int(gone)

    # --- units

    def next(self, rater: Rater) -> Given | None:
        """The unit a rater has open, or a new one; None if there is nothing (more) for them."""
        now = self.clock()
        with self.locked() as connection:
            state = self._state_of(connection, rater.id)
            if state not in (CONSENTED, READY):
                raise OutOfStepError("There is nothing to answer for you now.")
            states = self._unit_states(connection, now, without=rater.id)
            mine = connection.execute(
                select(assignments).where(assignments.c.rater == rater.id).order_by(assignments.c.id)
            ).all()
            for row in mine:
                if row.state == OPEN:
                    kept = self._keep(connection, row, states[row.unit], now)
                    if kept is not None:
                        return kept
            chosen = assignment.choose(
                list(states.values()),
                self._rater_state(rater.id, mine),
                self.design.raters,
                self.design.checks,
                self.design.seed,
            )
            if chosen is None:
                return None
            return self._give(connection, rater.id, chosen, now)

    def given(self, rater: Rater, key: str) -> Given:
        """A unit in this rater's hands, by its random key."""
        with self.database.reading() as connection:
            return self._given(self._row(connection, rater, key))

    def answer(self, rater: Rater, key: str, answers: Mapping[str, Any]) -> Progress:
        """Store a rater's answers. The same again changes nothing; others are refused."""
        now = self.clock()
        with self.locked() as connection:
            row = self._row(connection, rater, key)
            found = checked(self.design, answers)
            text = _encoded(found)
            if row.answers is not None:
                if row.answers != text:
                    raise OutOfStepError("You answered this already.")
                return self._progress(connection, rater.id)
            if self._state_of(connection, rater.id) not in (CONSENTED, READY):
                raise OutOfStepError("There is nothing to answer for you now.")
            early = self.design.raters.least_seconds - (now - row.given)
            if early > 0:
                raise TooQuickError(early)
            self._check_chats(connection, row)
            unit = self._units[row.unit]
            order = _order(row.sides)
            state = self._unit_states(connection, now, without=rater.id)[row.unit]
            # somebody who comes back late may find the unit answered by others: kept, but one too many to count
            late = unit.check is None and not assignment.room(state, self.design.raters)
            connection.execute(
                update(assignments)
                .where(assignments.c.id == row.id)
                .values(
                    state=SPARE if late else COUNTED,
                    answers=text,
                    vote=_encoded(vote(self.design, found, unit.systems, order)),
                    number=self.tick(connection),
                    seconds=now - row.given,
                    touched=now,
                )
            )
            if unit.check is not None:
                self._mark_check(connection, rater.id, unit.check, found, order)
            return self._progress(connection, rater.id)

    def progress(self, rater: Rater) -> Progress:
        with self.database.reading() as connection:
            return self._progress(connection, rater.id)

    def count(self) -> Count:
        """How far the study is."""
        with self.database.reading() as connection:
            states = self._unit_states(connection, self.clock())
            people = connection.scalars(select(raters.c.state).where(raters.c.study == self.study)).all()
            spare = connection.scalars(
                select(assignments.c.id)
                .join(raters, raters.c.id == assignments.c.rater)
                .where(raters.c.study == self.study, assignments.c.state == SPARE)
            ).all()
        real = [unit for unit in states.values() if unit.check is None]
        return Count(
            units=len(real),
            wanted=sum(assignment.wanted(unit.votes, self.design.raters) for unit in real),
            counted=sum(len(unit.votes) for unit in real),
            open=sum(unit.open for unit in real),
            spare=len(spare),
            raters=sum(state not in (NEW, DECLINED, WITHDRAWN) for state in people),
            screened=sum(state == SCREENED for state in people),
        )

    def states(self) -> list[UnitState]:
        """Every unit as it stands, checks apart."""
        with self.database.reading() as connection:
            found = self._unit_states(connection, self.clock())
        return [unit for unit in found.values() if unit.check is None]

    def answered(self) -> list[Answered]:
        """Every answer to a unit, checks apart, in the order they came."""
        query = (
            select(assignments, raters.c.name, raters.c.state.label("rater_state"))
            .join(raters, raters.c.id == assignments.c.rater)
            .where(raters.c.study == self.study, assignments.c.answers.is_not(None))
            .order_by(assignments.c.number)
        )
        with self.database.reading() as connection:
            rows = connection.execute(query).all()
        return [
            Answered(
                row.name,
                self._units[row.unit],
                _order(row.sides),
                json.loads(row.answers),
                row.seconds,
                row.number,
                SCREENED if row.rater_state == SCREENED else row.state,
                row.key,
            )
            for row in rows
            if self._units[row.unit].check is None
        ]

    # --- chats with systems

    def chat(self, given: Given, side: int) -> list[tuple[str, bool]]:
        """The lines of one chat, the rater's first, and which of them the crisis screen gave. `side` is the system's
        place in its unit, not the letter it is shown under."""
        query = (
            select(lines.c.text, lines.c.care)
            .where(lines.c.assignment == given.id, lines.c.side == side)
            .order_by(lines.c.number)
        )
        with self.database.reading() as connection:
            return [(json.loads(text), care) for text, care in connection.execute(query)]

    def answered_chats(self) -> list[tuple[Answered, Given]]:
        """Every answered unit with its chats' place."""
        with self.database.reading() as connection:
            query = (
                select(assignments)
                .join(raters, raters.c.id == assignments.c.rater)
                .where(raters.c.study == self.study)
            )
            by_key = {row.key: self._given(row) for row in connection.execute(query)}
        return [(each, by_key[each.key]) for each in self.answered()]

    def add_exchange(
        self, rater: Rater, key: str, side: int, number: int, said: str, reply: str, *, care: bool = False
    ) -> None:
        """A rater's line and its reply, together. If somebody was faster with the same lines, nothing happens."""
        now = self.clock()
        with self.locked() as connection:
            row = self._row(connection, rater, key)
            if row.answers is not None:
                raise OutOfStepError("You answered this already.")
            stored = connection.scalars(
                select(lines.c.number).where(lines.c.assignment == row.id, lines.c.side == side)
            ).all()
            if number < len(stored):
                return
            if number != len(stored):
                raise OutOfStepError("This conversation went on meanwhile; please load the page again.")
            new = [
                {"assignment": row.id, "side": side, "number": number + place, "text": _encoded(text),
                 "said": now, "care": care and place == 1}
                for place, text in enumerate((said, reply))
            ]  # fmt: skip
            connection.execute(insert(lines), new)
            connection.execute(update(assignments).where(assignments.c.id == row.id).values(touched=now))

    def _check_chats(self, connection: Connection, row: Row[Any]) -> None:
        chat = self.design.chat
        if chat is None:
            return
        found = Counter(connection.scalars(select(lines.c.side).where(lines.c.assignment == row.id)))
        if any(found.get(side, 0) < 2 * chat.least_turns for side in range(chat.systems)):
            raise OutOfStepError(
                f"Please write at least {chat.least_turns} lines in each conversation before you answer."
            )

    # --- transactions, also of `pairing`

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

    def _new_rater(self, token: str, source: str) -> str:
        with self.locked() as connection:
            known = select(raters.c.id).where(raters.c.token == _digest(token))
            if connection.execute(known).one_or_none() is None:
                connection.execute(
                    insert(raters).values(
                        study=self.study,
                        name=f"r{secrets.token_hex(5)}",
                        token=_digest(token),
                        source=source,
                        state=NEW,
                        code=_return_code(),
                        failed=0,
                        entered=self.clock(),
                    )
                )
        return token

    def _state_of(self, connection: Connection, rater: int) -> str:
        return str(connection.scalars(select(raters.c.state).where(raters.c.id == rater)).one())

    def _unit_states(
        self, connection: Connection, now: float, *, without: int | None = None
    ) -> dict[int, UnitState]:
        """Every unit as it stands; what the rater `without` has open themselves is left out."""
        query = (
            select(
                assignments.c.unit, assignments.c.rater, assignments.c.state, assignments.c.touched,
                assignments.c.vote, raters.c.state.label("rater_state"),
            )
            .join(raters, raters.c.id == assignments.c.rater)
            .where(raters.c.study == self.study)
            .order_by(assignments.c.number)
        )  # fmt: skip
        votes: dict[int, list[str]] = {}
        opened: Counter[int] = Counter()
        given: Counter[int] = Counter()
        alive = now - self.design.raters.abandoned_after
        for unit, rater, state, touched, voted, rater_state in connection.execute(query):
            given[unit] += 1
            if rater_state in _LEFT:
                continue
            if state == COUNTED:
                votes.setdefault(unit, []).append(json.loads(voted))
            elif state == OPEN and touched > alive and rater != without:
                opened[unit] += 1
        return {
            key: UnitState(
                key, unit.key, unit.item, unit.systems,
                tuple(votes.get(key, ())), opened[key], given[key], unit.check,
            )
            for key, unit in self._units.items()
        }  # fmt: skip

    def _rater_state(self, rater: int, mine: Sequence[Row[Any]]) -> RaterState:
        """Chance goes by who came when, not by the random name: the same seed gives the same assignment again."""
        answered = [row for row in mine if row.state in (COUNTED, SPARE)]
        real = [self._units[row.unit] for row in answered if self._units[row.unit].check is None]
        return RaterState(
            str(rater),
            done=len(real),
            had=frozenset(row.unit for row in answered),
            had_items=frozenset(unit.item for unit in real),
            systems=Counter(system for unit in real for system in unit.systems),
            checks=frozenset(row.unit for row in answered if self._units[row.unit].check is not None),
        )

    def _keep(self, connection: Connection, row: Row[Any], unit: UnitState, now: float) -> Given | None:
        """What a rater has open stays theirs, unless they were away for so long that others took it."""
        away = now - row.touched > self.design.raters.abandoned_after
        if away and unit.check is None and not assignment.room(unit, self.design.raters):
            connection.execute(update(assignments).where(assignments.c.id == row.id).values(state=RETURNED))
            return None
        values = {"touched": now, **({"given": now} if away else {})}
        connection.execute(update(assignments).where(assignments.c.id == row.id).values(**values))
        return self._given(row)

    def _give(self, connection: Connection, rater: int, unit: UnitState, now: float) -> Given:
        values = {
            "key": secrets.token_hex(16),
            "sides": "".join(map(str, assignment.sides(unit, self.design.seed))),
            "state": OPEN,
            "given": now,
            "touched": now,
        }
        mine = (assignments.c.rater == rater) & (assignments.c.unit == unit.id)
        # one that this rater had and gave back: a rater and a unit meet in one row
        if not connection.execute(update(assignments).where(mine).values(**values)).rowcount:
            connection.execute(insert(assignments).values(rater=rater, unit=unit.id, **values))
        return self._given(connection.execute(select(assignments).where(mine)).one())

    def _row(self, connection: Connection, rater: Rater, key: str) -> Row[Any]:
        query = select(assignments).where(assignments.c.rater == rater.id, assignments.c.key == key)
        row = connection.execute(query).one_or_none()
        if row is None:
            raise NotKnownError("There is no such unit; please load the page again.")
        return row

    def _given(self, row: Row[Any]) -> Given:
        return Given(
            row.id, row.key, self._units[row.unit], _order(row.sides), row.given, row.answers is not None
        )

    def _progress(self, connection: Connection, rater: int) -> Progress:
        """Attention checks are counted like everything else: nobody can tell them by a number that stands still."""
        query = select(assignments.c.unit).where(
            assignments.c.rater == rater, assignments.c.state.in_((COUNTED, SPARE))
        )
        done = len(connection.scalars(query).all())
        real = [unit for unit in self._units.values() if unit.check is None]
        most = len({unit.item for unit in real}) if self.design.raters.item_once else len(real)
        visit = min(self.design.raters.units, most)
        met = assignment.checks_in(visit, str(rater), self.design.checks, self.design.seed)
        return Progress(done, visit + met)

    def _mark_check(
        self, connection: Connection, rater: int, check: int, answers: Mapping[str, Any], order: Sequence[int]
    ) -> None:
        expect = self.design.checks.items[check].expect
        if not assignment.checks_failed(expect, answers, order):
            return
        connection.execute(update(raters).where(raters.c.id == rater).values(failed=raters.c.failed + 1))
        failed = connection.scalars(select(raters.c.failed).where(raters.c.id == rater)).one()
        if failed > self.design.checks.most_failed:
            connection.execute(update(raters).where(raters.c.id == rater).values(state=SCREENED))


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
                {"study": key, "key": unit.key, "item": _encoded(unit.item),
                 "systems": _encoded(list(unit.systems)), "check_number": unit.check}
                for unit in study_units
            ],
        )  # fmt: skip
    return int(key)


def _unit(row: Row[Any]) -> Unit:
    return Unit(row.key, json.loads(row.item), tuple(json.loads(row.systems)), row.check_number)


def _rater(row: Row[Any]) -> Rater:
    return Rater(row.id, row.name, row.state, row.source, row.code)


def _order(sides: str) -> tuple[int, ...]:
    return tuple(map(int, sides))


def _encoded(value: Any) -> str:
    """JSON in ASCII: no database refuses it, whatever somebody typed."""
    return json.dumps(value, sort_keys=True)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _return_code() -> str:
    letters = [secrets.choice(_CODE_LETTERS) for _ in range(8)]
    return f"{''.join(letters[:4])}-{''.join(letters[4:])}"
