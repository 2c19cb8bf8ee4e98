"""Turns and the rest of a conversation as rows, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Row

from allears.conversation import Conversation, Role, Turn
from allears.memory.encryption import Cipher
from allears.memory.learning import REVISION_LABEL

SEEKER = Role.SEEKER.value
_DETAILS = ("author", "emotion", "strategy", "intent", "feedback")


def turn_values(turn: Turn, cipher: Cipher) -> dict[str, Any]:
    details = {name: value for name in _DETAILS if (value := getattr(turn, name)) is not None}
    return {
        "speaker": turn.speaker.value,
        "text": cipher.seal(turn.text),
        "details": sealed_json(details, cipher) if details else None,
    }


def turn_from(row: Row[Any], cipher: Cipher) -> Turn:
    return Turn(Role(row.speaker), cipher.unseal(row.text), **(opened_json(row.details, cipher) or {}))


def state_of(conversation: Conversation, cipher: Cipher) -> bytes:
    """Everything that a conversation holds beside its turns and what it knows about the person."""
    rest = replace(
        conversation,
        turns=(),
        personas={who: persona for who, persona in conversation.personas.items() if who != SEEKER},
        labels={name: value for name, value in conversation.labels.items() if name != REVISION_LABEL},
    )
    return cipher.seal(rest.to_json())


def from_state(name: str, state: bytes | None, turns: Iterable[Turn], cipher: Cipher) -> Conversation:
    rest = Conversation(name, ()) if state is None else Conversation.from_json(cipher.unseal(state))
    return replace(rest, id=name, turns=tuple(turns))


def sealed_json(value: Mapping[str, Any], cipher: Cipher) -> bytes:
    return cipher.seal(json.dumps(value, ensure_ascii=False))


def opened_json(sealed: bytes | None, cipher: Cipher) -> dict[str, Any] | None:
    return None if sealed is None else json.loads(cipher.unseal(sealed))
