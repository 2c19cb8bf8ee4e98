"""What a memory answers with. Frozen dataclasses, no logic."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Summary:
    """A conversation in a list. `first_words` are the person's first, shortened.

    `match` is there where somebody searched: the words around what was found, or nothing if that is in the title.
    """

    id: str
    started: datetime
    last: datetime
    turns: int
    first_words: str
    title: str | None = None
    match: str | None = None


@dataclass(frozen=True, slots=True)
class EarlierWording:
    """What a sentence said before, until when, and why it changed ("edited", "another home")."""

    text: str
    reason: str
    until: datetime


@dataclass(frozen=True, slots=True)
class StoredSentence:
    """A sentence about a person. `id` stays when the text changes.

    `conversation` and `turn` (from 1) say where it was said; both are None for what the person wrote down
    themselves. `remembered` sentences are there when a new conversation starts.
    """

    id: str
    text: str
    conversation: str | None
    turn: int | None
    created: datetime
    edited: bool
    remembered: bool
    history: tuple[EarlierWording, ...] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """How much was erased."""

    conversations: int = 0
    turns: int = 0
    sentences: int = 0
