"""People and conversations as rows, inside one transaction. Nothing here begins or ends one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from textwrap import shorten
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from allears.conversation import Conversation, Persona, Role
from allears.memory import clock
from allears.memory.choices import Choices
from allears.memory.encryption import Cipher
from allears.memory.errors import ConflictError, NotFoundError
from allears.memory.learning import REVISION_LABEL
from allears.memory.records import Summary
from allears.memory.search import found_in
from allears.memory.sentences import Sentences
from allears.memory.tables import conversations, people, requests, turns
from allears.memory.turns import (
    SEEKER,
    from_state,
    opened_json,
    sealed_json,
    state_of,
    turn_from,
    turn_values,
)

FIRST_WORDS = 60  # characters of a conversation's first message in a list


class Rows:
    """What a transaction reads and writes."""

    def __init__(self, connection: Connection, cipher: Cipher) -> None:
        self._connection = connection
        self._cipher = cipher

    # --- people

    def person(self, person: str, *, lock: bool = False) -> Row[Any] | None:
        """A person's row. Whoever means to change something locks it, and others who do wait (SQLite: always so)."""
        query = select(people).where(people.c.name == self._cipher.digest("person", person))
        return self._connection.execute(query.with_for_update() if lock else query).one_or_none()

    def make_person(self, person: str) -> Row[Any]:
        """A person's row, locked; a new one if need be."""
        add = postgresql.insert if self._connection.dialect.name == "postgresql" else sqlite.insert
        name = self._cipher.digest("person", person)
        self._connection.execute(add(people).values(name=name, ticks=0).on_conflict_do_nothing())
        query = select(people).where(people.c.name == name)
        return self._connection.execute(query.with_for_update()).one()

    def agree(self, row: Row[Any], agreed: bool) -> None:
        answer = {"consent": agreed, "asked": True}
        self._connection.execute(update(people).where(people.c.id == row.id).values(**answer))
        if not agreed:
            mine = conversations.c.person == row.id
            self._connection.execute(update(conversations).where(mine).values(joined=False))

    def about(self, row: Row[Any]) -> Sentences:
        return Sentences(self._connection, self._cipher, row.id)

    def delete_person(self, row: Row[Any]) -> None:
        self._connection.execute(delete(people).where(people.c.id == row.id))

    # --- conversations

    def conversation(
        self, person: str, conversation: str, *, lock: bool = False
    ) -> tuple[Row[Any], Row[Any]]:
        """The rows of a person and of a conversation of theirs."""
        row = self.person(person, lock=lock)
        if row is not None:
            query = select(conversations).where(
                conversations.c.person == row.id, conversations.c.name == _storable(conversation)
            )
            found = self._connection.execute(query).one_or_none()
            if found is not None:
                return row, found
        raise NotFoundError(f"there is no conversation {conversation!r}")

    def insert_conversation(self, row: Row[Any]) -> tuple[int, str]:
        """A new conversation's key and name."""
        name, now = secrets.token_hex(8), clock.now()
        result = self._connection.execute(
            insert(conversations).values(
                name=name, person=row.id, started=now, last=now, tick=self._tick(row), joined=row.consent
            )
        )
        (key,) = result.inserted_primary_key or (0,)
        return int(key), name

    def update_conversation(self, row: Row[Any], found: Row[Any], updated: Conversation) -> None:
        self._set(
            found,
            state=state_of(updated, self._cipher),
            last=clock.now(),
            tick=self._tick(row),
            joined=row.consent,
        )

    def choices(self, found: Row[Any]) -> Choices:
        return Choices.from_dict(opened_json(found.choices, self._cipher) or {})

    def choose(self, found: Row[Any], changes: Mapping[str, Any]) -> None:
        chosen = {**(opened_json(found.choices, self._cipher) or {}), **changes}
        self._set(found, choices=sealed_json(chosen, self._cipher))

    def delete_conversation(self, found: Row[Any]) -> None:
        self._connection.execute(delete(conversations).where(conversations.c.id == found.id))

    def summaries(self, row: Row[Any]) -> list[Summary]:
        """The conversations of a person, the latest first."""
        talks = self._connection.execute(
            select(conversations)
            .where(conversations.c.person == row.id)
            .order_by(conversations.c.tick.desc())
        ).all()
        counts = self._per_conversation(row, func.count())
        seeker = turns.c.speaker == Role.SEEKER.value
        first = self._per_conversation(row, func.min(turns.c.number), seeker)
        return [
            Summary(
                talk.name,
                clock.shown(talk.started),
                clock.shown(talk.last),
                counts.get(talk.id, 0),
                self._first_words(talk.id, first.get(talk.id)),
                self.choices(talk).title,
            )
            for talk in talks
        ]

    def search(self, row: Row[Any], wanted: str) -> list[Summary]:
        """The conversations of a person in which all these words occur."""
        query = (
            select(conversations.c.name, turns.c.text)
            .join(conversations, conversations.c.id == turns.c.conversation)
            .where(conversations.c.person == row.id)
            .order_by(turns.c.conversation, turns.c.number)
        )
        said: dict[str, list[str]] = {}
        for name, text in self._connection.execute(query):
            said.setdefault(name, []).append(self._cipher.unseal(text))
        found = (
            replace(each, match=found_in(each.title, said.get(each.id, []), wanted))
            for each in self.summaries(row)
        )
        return [each for each in found if each.match is not None]

    def _per_conversation(self, row: Row[Any], value: Any, *conditions: Any) -> dict[int, int]:
        query = (
            select(turns.c.conversation, value)
            .join(conversations, conversations.c.id == turns.c.conversation)
            .where(conversations.c.person == row.id, *conditions)
            .group_by(turns.c.conversation)
        )
        return {key: int(found) for key, found in self._connection.execute(query)}

    def _first_words(self, key: int, number: int | None) -> str:
        if number is None:
            return ""
        query = select(turns.c.text).where(turns.c.conversation == key, turns.c.number == number)
        text = self._cipher.unseal(self._connection.execute(query).scalar_one())
        words = shorten(text, FIRST_WORDS, placeholder=" …")
        return words if words != " …".strip() else text[:FIRST_WORDS]  # one word longer than the whole line

    def load(self, row: Row[Any], found: Row[Any]) -> Conversation:
        said = (turn_from(each, self._cipher) for each in self.turns(found))
        rest = from_state(found.name, found.state, said, self._cipher)
        about = self.about(row)
        known = Persona(tuple(each.as_persona(found.id) for each in about.of(found.id)))
        whole = replace(
            rest,
            personas={**rest.personas, **({SEEKER: known} if known.sentences else {})},
            labels={**rest.labels, REVISION_LABEL: about.revision()},
        )
        return self.choices(found).shown_in(whole) if found.choices is not None else whole

    # --- turns

    def turns(self, found: Row[Any]) -> list[Row[Any]]:
        query = select(turns).where(turns.c.conversation == found.id).order_by(turns.c.number)
        return list(self._connection.execute(query))

    def turn_count(self, found: Row[Any]) -> int:
        query = select(func.count()).where(turns.c.conversation == found.id)
        return int(self._connection.execute(query).scalar_one())

    def reasons(self, found: Row[Any], last: int) -> dict[int, dict[str, Any]]:
        """The reasons for the last so many turns that have some, by the turns' numbers."""
        query = select(turns.c.number, turns.c.why).where(
            turns.c.conversation == found.id, turns.c.why.is_not(None)
        )
        newest = self._connection.execute(query.order_by(turns.c.number.desc()).limit(last)).all()
        return {number: opened_json(why, self._cipher) or {} for number, why in reversed(newest)}

    def why(self, found: Row[Any], number: int) -> dict[str, Any] | None:
        query = select(turns.c.why).where(turns.c.conversation == found.id, turns.c.number == number)
        return opened_json(self._connection.execute(query).scalar_one_or_none(), self._cipher)

    def check_nobody_was_faster(self, found: Row[Any], updated: Conversation, after: int) -> None:
        self.check_count(found, after)
        if len(updated.turns) < after:
            raise ConflictError(
                f"there are {len(updated.turns)} turns where {after} are stored; load it again"
            )
        # as many turns can be other turns: somebody took the last exchange back and went on
        query = select(turns).where(turns.c.conversation == found.id, turns.c.number > after - 2)
        ours = [
            turn_from(each, self._cipher) for each in self._connection.execute(query.order_by(turns.c.number))
        ]
        theirs = updated.turns[max(after - 2, 0) : after]
        if [(turn.speaker, turn.text) for turn in ours] != [(turn.speaker, turn.text) for turn in theirs]:
            raise ConflictError(
                "the conversation went on differently meanwhile: somebody else wrote to it; "
                "load it again and repeat the message"
            )

    def check_count(self, found: Row[Any], expected: int) -> None:
        stored = self.turn_count(found)
        if stored != expected:
            raise ConflictError(
                f"the conversation has {stored} turns by now, not {expected}: somebody else wrote to it; "
                "load it again and repeat the message"
            )

    def add_turns(
        self, found: Row[Any], updated: Conversation, after: int, why: Mapping[str, Any] | None
    ) -> None:
        now, last = clock.now(), len(updated.turns)
        before = found.state if found.state is not None else state_of(Conversation("", ()), self._cipher)
        rows = [
            {
                "conversation": found.id,
                "number": number,
                "said": now,
                "why": sealed_json(why, self._cipher) if why is not None and number == last else None,
                "before": before if number == after + 1 else None,
                **turn_values(turn, self._cipher),
            }
            for number, turn in enumerate(updated.turns[after:], after + 1)
        ]
        if rows:
            self._connection.execute(insert(turns), rows)

    def take_back_turns(self, found: Row[Any], number: int | None = None) -> int | None:
        """Delete the person's last message, or that of this number, and all after it.

        Its number, or None if there is no such message of theirs.
        """
        messages = select(turns.c.number, turns.c.before).where(
            turns.c.conversation == found.id, turns.c.speaker == Role.SEEKER.value
        )
        if number is not None:
            messages = messages.where(turns.c.number == number)
        last = self._connection.execute(messages.order_by(turns.c.number.desc()).limit(1)).one_or_none()
        if last is None:
            return None
        self._connection.execute(
            delete(turns).where(turns.c.conversation == found.id, turns.c.number >= last.number)
        )
        if last.before is not None:
            self._set(found, state=last.before)
        return int(last.number)

    # --- requests

    def done(self, row: Row[Any], request: str | None, what: str) -> str | None:
        """The conversation that a request was done in, if it was."""
        if request is None:
            return None
        query: Select[Any] = (
            select(conversations.c.name)
            .join(requests, requests.c.conversation == conversations.c.id)
            .where(requests.c.person == row.id, requests.c.digest == self._cipher.digest(what, request))
        )
        return self._connection.execute(query).scalar_one_or_none()

    def note(self, row: Row[Any], request: str | None, what: str, conversation: int) -> None:
        """Write down that a request is done."""
        if request is not None:
            digest = self._cipher.digest(what, request)
            self._connection.execute(
                insert(requests).values(person=row.id, digest=digest, conversation=conversation)
            )

    def _set(self, found: Row[Any], **values: Any) -> None:
        self._connection.execute(update(conversations).where(conversations.c.id == found.id).values(**values))

    def _tick(self, row: Row[Any]) -> int:
        """The next number of a person's writes. Only whoever holds the person's row may ask."""
        query = update(people).where(people.c.id == row.id).values(ticks=people.c.ticks + 1)
        self._connection.execute(query)
        return int(self._connection.scalars(select(people.c.ticks).where(people.c.id == row.id)).one())


def _storable(name: str) -> str:
    """Whatever somebody sends as an id; PostgreSQL takes no NUL and no half of a sign, and no id has one."""
    return name if name.isprintable() and name.isascii() else ""
