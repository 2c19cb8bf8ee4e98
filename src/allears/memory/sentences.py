"""The sentences about one person, inside one transaction: reading rows, writing rows, nothing decided.

A *live* sentence is one that no other took the place of. The others are the live ones' history.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, insert, select, update

from allears.conversation import PersonaSentence
from allears.memory import clock
from allears.memory.encryption import Cipher
from allears.memory.records import EarlierWording, StoredSentence
from allears.memory.tables import beliefs, conversations, people, sentences
from allears.personas.memory import EDITED

_TURN = re.compile(r"turn (\d{1,9})")
_ELSEWHERE = re.compile(r"conversation [0-9a-f]+(?:, turn \d+)?")


@dataclass(frozen=True, slots=True)
class Known:
    """A live sentence. `touched` is the revision before which copies of a conversation do not have it as it is."""

    key: int
    id: str
    text: str
    conversation: int | None
    conversation_name: str | None
    turn: int | None
    source: str
    edited: bool
    remembered: bool
    touched: int
    created: datetime

    def as_persona(self, conversation: int | None) -> PersonaSentence:
        """As a conversation sees it: its own turns are "turn 3", another's say which conversation."""
        if self.edited:
            return PersonaSentence(self.text, EDITED)
        if self.conversation is None or (self.turn is None and self.source):
            return PersonaSentence(self.text, self.source)
        said = "" if self.turn is None else f"turn {self.turn}"
        if self.conversation == conversation:
            return PersonaSentence(self.text, said)
        return PersonaSentence(
            self.text, ", ".join(filter(None, (f"conversation {self.conversation_name}", said)))
        )


def turn_of(source: str) -> int | None:
    """The turn that a source names, or None."""
    found = _TURN.fullmatch(source)
    return int(found[1]) if found else None


def from_elsewhere(source: str) -> bool:
    """Whether a source names another conversation."""
    return _ELSEWHERE.fullmatch(source) is not None


class Sentences:
    """The sentences about one person."""

    def __init__(self, connection: Connection, cipher: Cipher, person: int) -> None:
        self._connection = connection
        self._cipher = cipher
        self.person = person

    # --- reading

    def all(self) -> list[Known]:
        """Every live sentence: the remembered ones first, each in the order they came."""
        order = (sentences.c.remembered.desc(), sentences.c.id)
        return self._known(self._live().order_by(*order))

    def remembered(self) -> list[Known]:
        return [each for each in self.all() if each.remembered]

    def of(self, conversation: int) -> list[Known]:
        """What a conversation knows, in its order."""
        query = (
            self._live(beliefs.c.revision)
            .join(beliefs, beliefs.c.sentence == sentences.c.id)
            .where(beliefs.c.conversation == conversation)
            .order_by(beliefs.c.position, sentences.c.id)
        )
        return self._known(query)

    def wordings(self) -> list[tuple[int, str]]:
        """Keys and texts of all sentences, also of those that are history."""
        query = select(sentences.c.id, sentences.c.text).where(sentences.c.person == self.person)
        return [(row.id, self._cipher.unseal(row.text)) for row in self._connection.execute(query)]

    def conversations_of(self, key: int) -> set[int]:
        """The conversations that know a sentence."""
        query = select(beliefs.c.conversation).where(beliefs.c.sentence == key)
        return set(self._connection.scalars(query))

    def revision(self) -> int:
        query = select(people.c.revision).where(people.c.id == self.person)
        return int(self._connection.scalars(query).one())

    def agreed(self) -> bool:
        """Whether the person's conversations may know of each other."""
        query = select(people.c.consent).where(people.c.id == self.person)
        return bool(self._connection.scalars(query).one())

    def stored(self, known: Sequence[Known]) -> list[StoredSentence]:
        """Sentences with their history, to be shown."""
        history = self._history()
        return [
            StoredSentence(
                each.id,
                each.text,
                each.conversation_name,
                each.turn,
                clock.shown(each.created),
                each.edited,
                each.remembered,
                tuple(_earlier(each.key, history)),
            )
            for each in known
        ]

    def _live(self, *columns: Any) -> Select[Any]:
        return (
            select(sentences, conversations.c.name.label("conversation_name"), *columns)
            .join(conversations, conversations.c.id == sentences.c.conversation, isouter=True)
            .where(sentences.c.person == self.person, sentences.c.replaced_by.is_(None))
        )

    def _known(self, query: Select[Any]) -> list[Known]:
        return [self._open(row) for row in self._connection.execute(query)]

    def _open(self, row: Row[Any]) -> Known:
        linked = row._mapping.get(beliefs.c.revision, 0)
        return Known(
            row.id,
            row.name,
            self._cipher.unseal(row.text),
            row.conversation,
            row.conversation_name,
            row.turn,
            self._cipher.unseal(row.source),
            row.edited,
            row.remembered,
            max(row._mapping[sentences.c.revision], linked),
            row.created,
        )

    def _history(self) -> dict[int, list[tuple[int, EarlierWording]]]:
        """By the sentence that took the place: the key and the wording of those before it."""
        query = (
            select(sentences)
            .where(sentences.c.person == self.person, sentences.c.replaced_by.is_not(None))
            .order_by(sentences.c.id)
        )
        found: dict[int, list[tuple[int, EarlierWording]]] = {}
        for row in self._connection.execute(query):
            reason = "" if row.reason is None else self._cipher.unseal(row.reason)
            wording = EarlierWording(self._cipher.unseal(row.text), reason, clock.shown(row.replaced))
            found.setdefault(row.replaced_by, []).append((row.id, wording))
        return found

    # --- writing

    def insert(
        self,
        sentence: PersonaSentence,
        *,
        conversation: int | None,
        remembered: bool = False,
        revision: int = 0,
    ) -> Known:
        turn = turn_of(sentence.source)
        edited = sentence.source == EDITED
        source = "" if edited or turn is not None else sentence.source
        name, created = secrets.token_hex(8), clock.now()
        key = self._insert(
            name=name,
            conversation=conversation,
            turn=turn,
            text=self._cipher.seal(sentence.text),
            source=self._cipher.seal(source),
            edited=edited,
            remembered=remembered,
            revision=revision,
            created=created,
        )
        return Known(
            key, name, sentence.text, conversation, None, turn, source, edited, remembered, revision, created
        )

    def reword(self, known: Known, text: str, revision: int) -> None:
        """The person's own words from now on; the old ones become history."""
        self._insert(
            name=secrets.token_hex(8),
            conversation=known.conversation,
            turn=known.turn,
            text=self._cipher.seal(known.text),
            source=self._cipher.seal(known.source),
            edited=known.edited,
            remembered=False,
            revision=revision,
            created=known.created,
            replaced_by=known.key,
            reason=self._cipher.seal(EDITED),
            replaced=clock.now(),
        )
        self.change([known.key], text=self._cipher.seal(text), edited=True, revision=revision)

    def replace(self, old: Known, by: int, reason: str) -> None:
        """`old` is history from now on."""
        self.change([old.key], replaced_by=by, reason=self._cipher.seal(reason), replaced=clock.now())

    def change(self, keys: Collection[int], **values: Any) -> None:
        self._connection.execute(update(sentences).where(sentences.c.id.in_(keys)).values(**values))

    def drop(self, keys: Iterable[int]) -> int:
        """Delete sentences with all their history. How many live ones there were."""
        doomed = set(keys)
        count, newest = len(doomed), doomed
        while newest:
            query = select(sentences.c.id).where(sentences.c.replaced_by.in_(newest))
            newest = set(self._connection.scalars(query)) - doomed
            doomed |= newest
        self._connection.execute(delete(sentences).where(sentences.c.id.in_(doomed)))
        return count

    def delete_alone(self, keys: Iterable[int]) -> None:
        """Delete sentences as if they had never been said: what they replaced is live again."""
        doomed = set(keys)
        restored = {"replaced_by": None, "reason": None, "replaced": None}
        self._connection.execute(
            update(sentences).where(sentences.c.replaced_by.in_(doomed)).values(**restored)
        )
        self._connection.execute(delete(sentences).where(sentences.c.id.in_(doomed)))

    def part_conversations(self) -> None:
        """Each conversation keeps what was said in it and loses what came from elsewhere; the rest goes."""
        newer = sentences.alias()
        foreign = select(newer.c.id).where(newer.c.conversation.is_distinct_from(sentences.c.conversation))
        mine = sentences.c.person == self.person
        self._connection.execute(
            update(sentences)
            .where(mine, sentences.c.replaced_by.in_(foreign.correlate(sentences)))
            .values(replaced_by=None, reason=None, replaced=None)
        )
        inherited = (
            select(sentences.c.id)
            .where(mine, sentences.c.conversation.is_distinct_from(beliefs.c.conversation))
            .correlate(beliefs)
        )
        self._connection.execute(delete(beliefs).where(beliefs.c.sentence.in_(inherited)))
        self.change([each.key for each in self.all()], remembered=False)
        self.drop([each.key for each in self.all() if not self.conversations_of(each.key)])

    def leave(self, conversation: int) -> int:
        """Delete what was said in a conversation, but not what the person wrote and wants remembered. How many."""
        kept = sentences.c.edited & sentences.c.remembered & sentences.c.replaced_by.is_(None)
        said_here = (sentences.c.person == self.person) & (sentences.c.conversation == conversation)
        live = sum(each.conversation == conversation for each in self.all())
        spared = list(self._connection.scalars(select(sentences.c.id).where(said_here, kept)))
        doomed = list(self._connection.scalars(select(sentences.c.id).where(said_here, ~kept)))
        self.change(spared, turn=None)
        self.delete_alone(doomed)
        return live - len(spared)

    def link(self, conversation: int, key: int, position: int, revision: int) -> None:
        """Let a conversation know a sentence, if it does not yet."""
        if conversation not in self.conversations_of(key):
            values = {"conversation": conversation, "sentence": key}
            self._connection.execute(insert(beliefs).values(**values, position=position, revision=revision))

    def place(self, conversation: int, key: int, position: int) -> None:
        self._connection.execute(
            update(beliefs)
            .where(beliefs.c.conversation == conversation, beliefs.c.sentence == key)
            .values(position=position)
        )

    def next_revision(self) -> int:
        """From now on, copies of conversations that were loaded before are out of date."""
        revision = self.revision() + 1
        self._connection.execute(update(people).where(people.c.id == self.person).values(revision=revision))
        return revision

    def _insert(self, **values: Any) -> int:
        result = self._connection.execute(insert(sentences).values(person=self.person, **values))
        (key,) = result.inserted_primary_key or (0,)
        return int(key)


def _earlier(key: int, history: dict[int, list[tuple[int, EarlierWording]]]) -> list[EarlierWording]:
    """All that a sentence goes back to, oldest first."""
    found: list[EarlierWording] = []
    for before, wording in history.get(key, []):
        found += [*_earlier(before, history), wording]
    return found
