"""`Memory`: everything that is kept about people, each behind their own id.

Every method names the person first and sees nothing but theirs. A method that changes something is one transaction:
when it returns, it is on the disk; when it raises, nothing happened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import Row

from allears.conversation import Conversation, Persona
from allears.errors import AllearsError
from allears.memory import clock, corrections, learning
from allears.memory.choices import Choices
from allears.memory.closing import Closing
from allears.memory.database import Database
from allears.memory.errors import NotFoundError, NothingToUndoError
from allears.memory.export import ExportedTalk, exported, exported_talk
from allears.memory.records import Counts, StoredSentence, Summary
from allears.memory.rows import Rows
from allears.memory.sentences import Known, Sentences
from allears.memory.turns import SEEKER
from allears.memory.vault import change_key, open_vault


class Memory(Closing):
    """People's conversations and what is known about them.

    `url` is a file, or a URL of SQLite or PostgreSQL; by default `$ALLEARS_DATABASE`, or a file in the user's data
    folder. With a `key` (by default `$ALLEARS_KEY`) all texts are encrypted.
    """

    def __init__(self, url: str | None = None, *, key: str | None = None) -> None:
        self._database = Database(url or os.environ.get("ALLEARS_DATABASE") or default_file())
        try:
            self._cipher = open_vault(self._database, key or os.environ.get("ALLEARS_KEY") or None)
        except BaseException:
            self.close()
            raise

    @property
    def place(self) -> str:
        """Where it is stored, in words for a person."""
        return self._database.place

    def close(self) -> None:
        self._database.close()

    def change_key(self, new: str) -> None:
        """From now on the database opens with another key."""
        change_key(self._database, self._cipher, new)

    # --- consent

    def consent(self, person: str) -> bool:
        """Whether the person agreed to be remembered across conversations."""
        with self._reading() as rows:
            row = rows.person(person)
            return row is not None and bool(row.consent)

    def asked(self, person: str) -> bool:
        """Whether the person was asked for that, and said yes or no."""
        with self._reading() as rows:
            row = rows.person(person)
            return row is not None and bool(row.asked)

    def set_consent(self, person: str, agreed: bool) -> None:
        """Agreeing counts from the next message on. Withdrawing takes from each conversation what others told it."""
        with self._writing() as rows:
            row = rows.make_person(person)
            rows.agree(row, agreed)
            if not agreed:
                about = rows.about(row)
                about.part_conversations()
                about.next_revision()
        if not agreed:
            self._database.clean(thorough=False)

    # --- conversations

    def start(self, person: str, *, request: str | None = None) -> str:
        """A new conversation's id. It begins with what is remembered about the person, if they agreed.

        The same `request` again gives the same conversation again.
        """
        with self._writing() as rows:
            row = rows.make_person(person)
            done = rows.done(row, request, "start")
            if done is not None:
                return done
            key, name = rows.insert_conversation(row)
            rows.note(row, request, "start", key)
            if row.consent:
                about = rows.about(row)
                for position, known in enumerate(about.remembered()):
                    about.link(key, known.key, position, row.revision)
            return name

    def conversations(self, person: str, search: str = "") -> list[Summary]:
        """A person's conversations, the latest first: all, or those in which all words of `search` occur."""
        with self._reading() as rows:
            row = rows.person(person)
            if row is None:
                return []
            return rows.search(row, search) if search.strip() else rows.summaries(row)

    def load(self, person: str, conversation: str) -> Conversation:
        """A conversation with everything the next turn needs. What is not this person's is not there."""
        with self._reading() as rows:
            return rows.load(*rows.conversation(person, conversation))

    def load_before(self, person: str, conversation: str, turn: int) -> tuple[Conversation, int]:
        """A conversation as it was before the person's message `turn`, and how many turns came since.

        Nothing is changed: it is taken back as `undo` does it, looked at, and left as it was.
        """
        before: list[Conversation] = []
        with suppress(_OnlyLookedError), self._writing() as rows:
            row, found = rows.conversation(person, conversation, lock=True)
            count = rows.turn_count(found)
            _take_back(rows, row, found, turn)
            before.append(rows.load(*rows.conversation(person, conversation)))
            raise _OnlyLookedError
        return before[0], count - len(before[0].turns)

    def choices(self, person: str, conversation: str) -> Choices:
        """What the person chose for a conversation."""
        with self._reading() as rows:
            return rows.choices(rows.conversation(person, conversation)[1])

    def choose(self, person: str, conversation: str, changes: Mapping[str, Any]) -> None:
        """Change some of the `Choices` of a conversation, by their names; None takes one back."""
        with self._writing() as rows:
            rows.choose(rows.conversation(person, conversation, lock=True)[1], changes)
        self._database.clean(thorough=False)

    def append(
        self,
        person: str,
        conversation: str,
        updated: Conversation,
        *,
        after: int,
        instead_of: int = 0,
        why: Mapping[str, Any] | None = None,
        request: str | None = None,
    ) -> None:
        """Store the turns of `updated` beyond the first `after`, its labels, and what it knows about the person.

        `after` must be the number of turns stored so far, or somebody else was faster (`ConflictError`). `why`
        belongs to the last turn. A `request` that was done before does nothing, so it is safe to ask again.
        `instead_of` so many turns: those after the first `after` give way to the new ones, as `load_before` showed.
        """
        if updated.id != conversation:
            raise AllearsError(f"conversation {updated.id!r} cannot be stored as {conversation!r}")
        what = f"append {conversation}"
        with self._writing() as rows:
            row, found = rows.conversation(person, conversation, lock=True)
            if rows.done(row, request, what) is not None:
                return
            if instead_of:
                rows.check_count(found, after + instead_of)
                _take_back(rows, row, found, after + 1)
                row, found = rows.conversation(person, conversation)
            rows.check_nobody_was_faster(found, updated, after)
            rows.add_turns(found, updated, after, why)
            rows.update_conversation(row, found, updated)
            rows.note(row, request, what, found.id)
            about = rows.about(row)
            learned = learning.take_in(
                about,
                found.id,
                updated.personas.get(SEEKER, Persona()),
                after=after,
                seen=learning.revision_of(updated.labels),
            )
            if row.consent:  # the first time, also what the conversation told before the person agreed
                learning.remember(about, found.id, learned if found.joined else None)

    def why(self, person: str, conversation: str, turn: int) -> dict[str, Any] | None:
        """What was stored as the reasons for a turn (from 1)."""
        with self._reading() as rows:
            _, found = rows.conversation(person, conversation)
            return rows.why(found, turn)

    def reasons(self, person: str, conversation: str, *, last: int) -> dict[int, dict[str, Any]]:
        """What was stored as the reasons for the last so many replies, by the numbers of their turns (from 1)."""
        with self._reading() as rows:
            return rows.reasons(rows.conversation(person, conversation)[1], last)

    def undo(self, person: str, conversation: str, turn: int | None = None) -> Conversation:
        """Take back the person's last message (or that of a turn) and what came after it; what is left then."""
        with self._writing() as rows:
            row, found = rows.conversation(person, conversation, lock=True)
            _take_back(rows, row, found, turn)
            before = rows.load(*rows.conversation(person, conversation))
        self._database.clean(thorough=False)
        return before

    def delete_conversation(self, person: str, conversation: str) -> Counts:
        """Delete a conversation and what it told about the person; what they edited themselves is theirs and stays."""
        with self._writing() as rows:
            row, found = rows.conversation(person, conversation, lock=True)
            about = rows.about(row)
            counts = Counts(1, rows.turn_count(found), about.leave(found.id))
            rows.delete_conversation(found)
            about.next_revision()
        self._database.clean(thorough=False)
        return counts

    # --- who the person is

    def persona(self, person: str) -> Persona:
        """What is remembered about a person and given to new conversations."""
        with self._reading() as rows:
            row = rows.person(person)
            remembered = [] if row is None else rows.about(row).remembered()
            return Persona(tuple(known.as_persona(None) for known in remembered))

    def sentences(self, person: str, *, conversation: str | None = None) -> list[StoredSentence]:
        """Every sentence about a person with its id, origin and history; or only those a conversation knows.

        Remembered ones come first, in the order of `persona`.
        """
        with self._reading() as rows:
            if conversation is None and rows.person(person) is None:
                return []
            about, known = _known(rows, person, conversation)
            return about.stored(known)

    def edit_persona(
        self, person: str, which: int | str, text: str, *, conversation: str | None = None
    ) -> None:
        """Reword a sentence, by its number in `sentences` (from 1) or its id. Nothing that is learned overwrites it."""
        with self._writing() as rows:
            about, known = _known(rows, person, conversation, lock=True)
            corrections.edit(about, corrections.find(known, which), text)
        self._database.clean(thorough=False)

    def add_sentence(self, person: str, text: str, *, conversation: str | None = None) -> str:
        """Something the person wants known: in one conversation, and if they agreed in all later ones. Its id."""
        with self._writing() as rows:
            row = rows.make_person(person)
            if conversation is None and not row.consent:
                raise AllearsError(
                    "nothing is remembered across conversations before you agree: allears memory consent yes"
                )
            place = None if conversation is None else rows.conversation(person, conversation)[1].id
            return corrections.add(rows.about(row), text, conversation=place, remembered=row.consent)

    def forget_sentence(self, person: str, which: int | str, *, conversation: str | None = None) -> None:
        """Forget a sentence, by its number in `sentences` (from 1) or its id, in every conversation."""
        with self._writing() as rows:
            about, known = _known(rows, person, conversation, lock=True)
            corrections.forget(about, corrections.find(known, which))
        self._database.clean(thorough=False)

    # --- everything

    def export(self, person: str) -> dict[str, Any]:
        """Everything that is stored about a person, as JSON values."""
        with self._reading() as rows:
            row = rows.person(person)
            if row is None:
                return exported(person, consent=False)
            about = rows.about(row)
            talks = [_talk(rows, person, summary) for summary in rows.summaries(row)]
            return exported(
                person, consent=bool(row.consent), sentences=about.stored(about.all()), talks=talks
            )

    def export_conversation(self, person: str, conversation: str) -> dict[str, Any]:
        """Everything that is stored of one conversation, as JSON values."""
        with self._reading() as rows:
            row, _ = rows.conversation(person, conversation)
            summary = next(each for each in rows.summaries(row) if each.id == conversation)
            return exported_talk(_talk(rows, person, summary))

    def erase(self, person: str) -> Counts:
        """Erase everything about a person. Of a SQLite file, the bytes as well."""
        counts = Counts()
        with self._writing() as rows:
            row = rows.person(person, lock=True)
            if row is not None:
                talks = rows.summaries(row)
                sentences = rows.about(row).all()
                counts = Counts(len(talks), sum(talk.turns for talk in talks), len(sentences))
                rows.delete_person(row)
        self._database.clean(thorough=True)
        return counts

    @contextmanager
    def _reading(self) -> Iterator[Rows]:
        with self._database.reading() as connection:
            yield Rows(connection, self._cipher)

    @contextmanager
    def _writing(self) -> Iterator[Rows]:
        with self._database.writing() as connection:
            yield Rows(connection, self._cipher)


def _talk(rows: Rows, person: str, summary: Summary) -> ExportedTalk:
    row, found = rows.conversation(person, summary.id)
    said = [clock.shown(turn.said) for turn in rows.turns(found)]
    why = [rows.why(found, number) for number in range(1, summary.turns + 1)]
    return ExportedTalk(summary, rows.load(row, found), said, why)


class _OnlyLookedError(Exception):
    """Ends a transaction whose changes are not wanted."""


def _take_back(rows: Rows, row: Row[Any], found: Row[Any], turn: int | None) -> None:
    """The person's message of a turn, or their last, is gone with all after it and all that those told."""
    first = rows.take_back_turns(found, turn)
    if first is None:
        what = "nothing has been said yet" if turn is None else f"turn {turn} is no message of yours"
        raise NothingToUndoError(f"there is nothing to undo: {what}")
    learning.take_back(rows.about(row), found.id, first)


def default_file() -> str:
    """Where conversations are kept unless somebody says otherwise."""
    from platformdirs import user_data_path

    return str(user_data_path("allears") / "memory.db")


def _known(
    rows: Rows, person: str, conversation: str | None, *, lock: bool = False
) -> tuple[Sentences, list[Known]]:
    """The sentences about a person, and those of them that somebody can point at by number."""
    if conversation is not None:
        row, found = rows.conversation(person, conversation, lock=lock)
        about = rows.about(row)
        return about, about.of(found.id)
    known = rows.person(person, lock=lock)
    if known is None:
        raise NotFoundError("there are no sentences yet")
    about = rows.about(known)
    return about, about.all()
