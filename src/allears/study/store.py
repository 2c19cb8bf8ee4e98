"""Everything a study keeps: who takes part, who has which unit, what they answered.

Every method is one transaction. Whoever assigns or answers holds the study's row meanwhile, so units are given out one
after the other however many raters there are; an answer that was acknowledged is on the disk.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from allears.study import assignment
from allears.study.answers import checked, vote
from allears.study.assignment import RaterState, UnitState
from allears.study.errors import NotKnownError, OutOfStepError, TooQuickError
from allears.study.people import People
from allears.study.rows import (
    CONSENTED,
    COUNTED,
    DECLINED,
    NEW,
    OPEN,
    READY,
    RETURNED,
    SCREENED,
    SPARE,
    WITHDRAWN,
    AnsweredUnit,
    Count,
    Given,
    Rater,
    RaterProgress,
    as_order,
    encoded,
)
from allears.study.tables import assignments, lines, raters

_LEFT = (SCREENED, DECLINED, WITHDRAWN)


class Store(People):
    """A study in a database: its people (`people.py`), the units they are given, and their answers."""

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

    def answer(self, rater: Rater, key: str, answers: Mapping[str, Any]) -> RaterProgress:
        """Store a rater's answers. The same again changes nothing; others are refused."""
        now = self.clock()
        with self.locked() as connection:
            row = self._row(connection, rater, key)
            found = checked(self.design, answers)
            text = encoded(found)
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
            order = as_order(row.sides)
            state = self._unit_states(connection, now, without=rater.id)[row.unit]
            # somebody who comes back late may find the unit answered by others: kept, but one too many to count
            late = unit.check is None and not assignment.room(state, self.design.raters)
            connection.execute(
                update(assignments)
                .where(assignments.c.id == row.id)
                .values(
                    state=SPARE if late else COUNTED,
                    answers=text,
                    vote=encoded(vote(self.design, found, unit.systems, order)),
                    number=self.tick(connection),
                    seconds=now - row.given,
                    touched=now,
                )
            )
            if unit.check is not None:
                self._mark_check(connection, rater.id, unit.check, found, order)
            return self._progress(connection, rater.id)

    def progress(self, rater: Rater) -> RaterProgress:
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

    def answered(self) -> list[AnsweredUnit]:
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
            AnsweredUnit(
                row.name,
                self._units[row.unit],
                as_order(row.sides),
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

    def answered_chats(self) -> list[tuple[AnsweredUnit, Given]]:
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
                {"assignment": row.id, "side": side, "number": number + place, "text": encoded(text),
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

    # --- inside a transaction

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
            row.id, row.key, self._units[row.unit], as_order(row.sides), row.given, row.answers is not None
        )

    def _progress(self, connection: Connection, rater: int) -> RaterProgress:
        """Attention checks are counted like everything else: nobody can tell them by a number that stands still."""
        query = select(assignments.c.unit).where(
            assignments.c.rater == rater, assignments.c.state.in_((COUNTED, SPARE))
        )
        done = len(connection.scalars(query).all())
        real = [unit for unit in self._units.values() if unit.check is None]
        most = len({unit.item for unit in real}) if self.design.raters.item_once else len(real)
        visit = min(self.design.raters.units, most)
        met = assignment.checks_in(visit, str(rater), self.design.checks, self.design.seed)
        return RaterProgress(done, visit + met)

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
