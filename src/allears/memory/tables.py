"""The tables, as the newest revision in `migrations` leaves them.

Everything a person said or that was made of their words is `LargeBinary`: the bytes that `encryption` made of it.
Bytes also carry what text columns refuse (a NUL, half an emoji). Names of people and requests are digests.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    false,
)

VERSION_TABLE = "memory_version"  # our own, so that a database can be shared with others that use Alembic

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

vault = Table(  # one row if the database is encrypted, none otherwise
    "memory_vault",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("salt", LargeBinary, nullable=False),
    Column("wrapped_key", LargeBinary, nullable=False),
)

people = Table(
    "memory_people",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("ticks", Integer, nullable=False),  # counts writes: what is latest, whatever the wall clock says
    Column("consent", Boolean, nullable=False, server_default=false()),
    Column("asked", Boolean, nullable=False, server_default=false()),  # and said yes or no
    # grows whenever a sentence changes behind a conversation's back; see `learning`
    Column("revision", Integer, nullable=False, server_default="0"),
)

conversations = Table(
    "memory_conversations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(16), nullable=False, unique=True),
    Column("person", ForeignKey(people.c.id, ondelete="CASCADE"), nullable=False, index=True),
    Column("started", DateTime, nullable=False),
    Column("last", DateTime, nullable=False),
    Column("tick", Integer, nullable=False),
    Column("state", LargeBinary),  # labels and whatever else a Conversation holds beside turns and persona
    # whether its sentences are remembered already; they are from the first message after the person agreed
    Column("joined", Boolean, nullable=False, server_default=false()),
    Column("choices", LargeBinary),  # what the person chose for it, as JSON; undo leaves it alone
)

turns = Table(
    "memory_turns",
    metadata,
    Column("conversation", ForeignKey(conversations.c.id, ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),  # from 1
    Column("speaker", String(16), nullable=False),
    Column("text", LargeBinary, nullable=False),
    Column("details", LargeBinary),  # emotion, strategy and the like, as JSON
    Column("why", LargeBinary),
    Column("before", LargeBinary),  # the conversation's state before this write, for undo
    Column("said", DateTime, nullable=False),
)

requests = Table(  # writes that were done; a client that heard no answer may ask again
    "memory_requests",
    metadata,
    Column("person", ForeignKey(people.c.id, ondelete="CASCADE"), primary_key=True),
    Column("digest", String(64), primary_key=True),
    Column("conversation", ForeignKey(conversations.c.id, ondelete="CASCADE"), nullable=False, index=True),
)

sentences = Table(
    "memory_sentences",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(16), nullable=False, unique=True),
    Column("person", ForeignKey(people.c.id, ondelete="CASCADE"), nullable=False, index=True),
    Column("conversation", ForeignKey(conversations.c.id, ondelete="SET NULL"), index=True),
    Column("turn", Integer),
    Column("text", LargeBinary, nullable=False),
    Column("source", LargeBinary, nullable=False),  # a source that is no turn ("profile")
    Column("edited", Boolean, nullable=False),
    Column("remembered", Boolean, nullable=False),
    Column("revision", Integer, nullable=False),  # when the person last put a hand on it; 0: never
    Column("created", DateTime, nullable=False),
    # a sentence that another took the place of is history: kept to be shown, and live again if the other is undone
    Column("replaced_by", ForeignKey("memory_sentences.id", ondelete="SET NULL"), index=True),
    Column("reason", LargeBinary),
    Column("replaced", DateTime),
)

beliefs = Table(  # which sentences a conversation knows
    "memory_beliefs",
    metadata,
    Column("conversation", ForeignKey(conversations.c.id, ondelete="CASCADE"), primary_key=True),
    Column("sentence", ForeignKey(sentences.c.id, ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("revision", Integer, nullable=False),  # copies of the conversation that are older do not have it
    Index("ix_memory_beliefs_sentence", "sentence"),
)
