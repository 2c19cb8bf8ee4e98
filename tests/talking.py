"""Made-up exchanges for the tests of memory, put together the way the listener does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.memory import Memory
from allears.personas.memory import merge

ME = "me"


def exchange(
    conversation: Conversation,
    message: str,
    answer: str = "Tell me more.",
    *,
    learned: Sequence[str] = (),
    labels: dict[str, Any] | None = None,
) -> Conversation:
    """The conversation after one more message and its answer, with what the message told about the person."""
    turn = f"turn {len(conversation.turns) + 1}"
    known = conversation.personas.get("seeker", Persona())
    merged = merge(known, [PersonaSentence(text, turn) for text in learned])
    return replace(
        conversation,
        turns=(*conversation.turns, Turn(Role.SEEKER, message), Turn(Role.SUPPORTER, answer)),
        personas={**conversation.personas, "seeker": merged.persona},
        labels={**conversation.labels, **(labels or {})},
    )


def say(
    memory: Memory, conversation: str, message: str, *learned: str, person: str = ME, **options: Any
) -> Conversation:
    """Load, talk, store: one message of a person's, and the conversation as stored."""
    loaded = memory.load(person, conversation)
    updated = exchange(loaded, message, learned=learned, labels=options.pop("labels", None))
    memory.append(person, conversation, updated, after=len(loaded.turns), **options)
    return memory.load(person, conversation)


def known(conversation: Conversation) -> tuple[str, ...]:
    """What a conversation knows about the person."""
    return conversation.personas.get("seeker", Persona()).texts


def texts(conversation: Conversation) -> list[str]:
    return [turn.text for turn in conversation.turns]
