"""The dataclasses every room shares. They hold a conversation; they do nothing with it.

A conversation always has a *seeker* (the one whose feelings it is about; the papers also say speaker,
user or poster) and a *supporter* (the one who answers; also listener, system or respondent).
One idea, one name: every corpus reader maps its own words onto `Role`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """Who speaks. Corpora with more than two people (Reddit) also fill `Turn.author`."""

    SEEKER = "seeker"
    SUPPORTER = "supporter"


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance."""

    speaker: Role
    text: str
    author: str | None = None
    emotion: str | None = None
    strategy: str | None = None
    intent: str | None = None
    feedback: int | None = None


@dataclass(frozen=True, slots=True)
class PersonaSentence:
    """One sentence about a person and where it came from ("profile", "turn 3", a comment's id, ...)."""

    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Persona:
    """What is known about one person."""

    sentences: tuple[PersonaSentence, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(sentence.text for sentence in self.sentences)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole conversation with everything its corpus says about it.

    `personas` is keyed by author where authors are named, otherwise by role.
    `labels` holds what only one corpus has (a topic, EPITOME's levels); values must be JSON.
    """

    id: str
    turns: tuple[Turn, ...]
    personas: Mapping[str, Persona] = field(default_factory=dict)
    emotion: str | None = None
    situation: str | None = None
    problem: str | None = None
    survey: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)
    split: str = ""
    source: str = ""

    def to_json(self) -> str:
        """One line of JSON; empty fields are left out."""
        return _encode(_plain_conversation(self))

    @classmethod
    def from_json(cls, line: str) -> Conversation:
        """The inverse of `to_json`. Raises `ValueError` with the field that is wrong."""
        return conversation_from_dict(json.loads(line))


@dataclass(frozen=True, slots=True)
class Example:
    """One training or test item: what was said, what was answered, and who answered."""

    context: tuple[Turn, ...]
    response: Turn
    persona: Persona = Persona()  # frozen, so sharing the default is safe
    labels: Mapping[str, Any] = field(default_factory=dict)
    conversation_id: str = ""


Context = str | Turn | Sequence[str | Turn | Mapping[str, Any]]
"""How a conversation may be given: see `as_turns`."""


def as_turns(context: Context) -> tuple[Turn, ...]:
    """A conversation as turns. Raises `ValueError` where it is none.

    A text is one message of the seeker's. In a list of texts the speakers take turns and the last one is the seeker's.
    Dictionaries are OpenAI-style messages: `user` is the seeker, `assistant` the supporter; `system` ones are left out.
    """
    if isinstance(context, str):
        return (Turn(Role.SEEKER, context),)
    if isinstance(context, Turn):
        return (context,)
    turns: list[Turn] = []
    for place, item in enumerate(context):
        if isinstance(item, Turn):
            turns.append(item)
        elif isinstance(item, str):
            seeker = (len(context) - place) % 2 == 1
            turns.append(Turn(Role.SEEKER if seeker else Role.SUPPORTER, item))
        elif isinstance(item, Mapping):
            role, text = item.get("role"), item.get("content")
            if role not in _OPENAI_ROLES or not isinstance(text, str):
                raise ValueError(
                    f"message {place + 1} must have a role (user, assistant or system) and a content that is a text"
                )
            speaker = _OPENAI_ROLES[role]
            if speaker is not None:
                turns.append(Turn(speaker, text))
        else:
            raise ValueError(
                f"turn {place + 1} must be a text, a Turn or a message, got {type(item).__name__}"
            )
    if not turns:
        raise ValueError("there is no turn to answer")
    return tuple(turns)


_OPENAI_ROLES = {"user": Role.SEEKER, "assistant": Role.SUPPORTER, "system": None}

# --- JSON. Written out by hand: it is faster than dataclasses.asdict and says which field is wrong.

_encode = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` would make one for every conversation


def _plain_turn(turn: Turn) -> dict[str, Any]:
    optional = {
        "author": turn.author,
        "emotion": turn.emotion,
        "strategy": turn.strategy,
        "intent": turn.intent,
        "feedback": turn.feedback,
    }
    return {"speaker": turn.speaker.value, "text": turn.text} | {
        key: value for key, value in optional.items() if value is not None
    }


def _plain_conversation(conversation: Conversation) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "id": conversation.id,
        "turns": [_plain_turn(turn) for turn in conversation.turns],
        "personas": {
            who: [{"text": s.text, "source": s.source} for s in persona.sentences]
            for who, persona in conversation.personas.items()
        },
        "survey": dict(conversation.survey),
        "labels": dict(conversation.labels),
    }
    for name in ("emotion", "situation", "problem", "split", "source"):
        plain[name] = getattr(conversation, name)
    return {key: value for key, value in plain.items() if value != _DEFAULTS.get(key)}


def conversation_from_dict(data: Any) -> Conversation:
    """Build a Conversation from parsed JSON. Raises `ValueError` with the field that is wrong."""
    record = _expect(data, dict, "a conversation")
    unknown = set(record) - _CONVERSATION_FIELDS
    if unknown:
        raise ValueError(f"unknown field {sorted(unknown)[0]!r} in a conversation")
    return Conversation(
        id=_expect(record.get("id"), str, "id"),
        turns=tuple(_turn(item) for item in _expect(record.get("turns"), list, "turns")),
        personas={
            _expect(who, str, "a name in personas"): Persona(
                tuple(_persona_sentence(item) for item in _expect(items, list, f"personas[{who!r}]"))
            )
            for who, items in _expect(record.get("personas", {}), dict, "personas").items()
        },
        emotion=_optional(record, "emotion", str),
        situation=_optional(record, "situation", str),
        problem=_optional(record, "problem", str),
        survey={
            key: _number(value, f"survey[{key!r}]")
            for key, value in _expect(record.get("survey", {}), dict, "survey").items()
        },
        labels=_expect(record.get("labels", {}), dict, "labels"),
        split=_expect(record.get("split", ""), str, "split"),
        source=_expect(record.get("source", ""), str, "source"),
    )


_CONVERSATION_FIELDS = frozenset(Conversation.__dataclass_fields__)
_DEFAULTS: dict[str, Any] = {
    "emotion": None,
    "situation": None,
    "problem": None,
    "split": "",
    "source": "",
} | {key: {} for key in ("personas", "survey", "labels")}
_TURN_FIELDS = frozenset(Turn.__dataclass_fields__)
_JSON_NAMES = {dict: "an object", list: "a list", str: "a text", int: "a whole number"}


def _turn(data: Any) -> Turn:
    record = _expect(data, dict, "a turn")
    unknown = set(record) - _TURN_FIELDS
    if unknown:
        raise ValueError(f"unknown field {sorted(unknown)[0]!r} in a turn")
    speaker = record.get("speaker")
    if speaker not in ("seeker", "supporter"):
        raise ValueError(f"speaker must be 'seeker' or 'supporter', got {speaker!r}")
    return Turn(
        speaker=Role(speaker),
        text=_expect(record.get("text"), str, "text"),
        author=_optional(record, "author", str),
        emotion=_optional(record, "emotion", str),
        strategy=_optional(record, "strategy", str),
        intent=_optional(record, "intent", str),
        feedback=_optional(record, "feedback", int),
    )


def _persona_sentence(data: Any) -> PersonaSentence:
    if isinstance(data, str):  # people write plain lists by hand
        return PersonaSentence(data)
    record = _expect(data, dict, "a persona sentence")
    return PersonaSentence(
        text=_expect(record.get("text"), str, "a persona sentence's text"),
        source=_expect(record.get("source", ""), str, "a persona sentence's source"),
    )


def _expect(value: Any, kind: type, name: str) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{name} must be {_JSON_NAMES[kind]}, got {type(value).__name__}")
    return value


def _optional(record: dict[str, Any], name: str, kind: type) -> Any:
    value = record.get(name)
    return None if value is None else _expect(value, kind, name)


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number, got {type(value).__name__}")
    return float(value)
