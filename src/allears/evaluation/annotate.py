"""Labels that a corpus lacks, given by models: personas, emotions, intents, EPITOME's mechanisms.

An *addition* takes whole conversations and gives them back with one thing more, in the place where the corpora that
have it keep it:

- persona: `personas[...]` with each sentence's turn, and `labels["persona_by_turn"]`, what was known after each seeker
  turn from the third on, as PESConv has it (where one seeker speaks);
- emotion: `emotion`, from everything the seekers say;
- intent: the `intent` of the supporter's turns;
- mechanisms: `labels["emotional_reactions"]`, ... for a post and its response, as EPITOME has them; for longer
  conversations `labels["mechanisms_by_turn"]`, with a place for every turn;
- act: `labels["acts_by_turn"]`, which of DailyDialog's dialogue acts each turn is.

`labels["annotated_by"]` says which model gave what, so that nobody takes it for what people wrote. What a conversation
has already is never written over by accident: that is an error, unless the addition is told to replace it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from allears.conversation import Conversation, Persona, Role, Turn
from allears.corpora.heads import Head
from allears.corpora.heads import head as head_named
from allears.errors import AllearsError
from allears.labels import MECHANISMS
from allears.models.reader.loading import ReadingModel
from allears.personas.contract import PersonaExtractor
from allears.personas.memory import Similarity, merge
from allears.personas.provenance import extract_persona, turn_source, turns_by_person
from allears.runtime.answering import AnsweringReader
from allears.text.reading import Reading

ADDITIONS = ("persona", "emotion", "intent", "mechanisms", "act")
FIRST_PERSONA_TURN = 2  # seeker turns before PAL's first annotation: greetings
_PERSONA_LABELS = ("persona_by_turn", "persona_changes")
_MECHANISM_LABELS = (*MECHANISMS, "mechanisms_by_turn")
EMOTION_HEADS = ("ed-emotion-turns", "ed-emotion", "ed-emotion-16")


class Addition(Protocol):
    """Gives conversations back, each with one thing more; as many as it got, in their order."""

    def __call__(self, conversations: Sequence[Conversation]) -> list[Conversation]: ...


class AddPersona:
    def __init__(
        self,
        extractor: PersonaExtractor,
        by: str,
        *,
        similarity: Similarity | None = None,
        replace_old: bool = False,
    ):
        self.extractor, self.by = extractor, by
        self.similarity, self.replace_old = similarity, replace_old

    def __call__(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        return [self._one(conversation) for conversation in conversations]

    def _one(self, conversation: Conversation) -> Conversation:
        people = turns_by_person(conversation)
        had = any(who in conversation.personas for who in people) or "persona_by_turn" in conversation.labels
        _refuse(had, conversation, "a persona", self.replace_old)
        personas = dict(conversation.personas)
        known: dict[int, tuple[str, ...]] = {}  # after the turn of that number
        changes: list[dict[str, str]] = []
        for who, turns in people.items():
            found = extract_persona(self.extractor, turns)
            persona = Persona()
            for number, _ in turns:
                said = [each for each in found.kept if each.source == turn_source(number)]
                merged = merge(persona, said, similarity=self.similarity)
                persona = merged.persona
                known[number] = persona.texts
                changes += [change.to_dict() for change in merged.changes]
            personas[who] = persona
        labels: dict[str, Any] = {"persona_changes": changes} if changes else {}
        if len(people) == 1:
            labels["persona_by_turn"] = [list(known[number]) for number in sorted(known)][FIRST_PERSONA_TURN:]
        bare = _without(conversation, _PERSONA_LABELS)
        return _labelled(replace(bare, personas=personas), labels, "persona", self.by)


class AddEmotion:
    """The likeliest of the head's emotions, read from everything the seekers say."""

    def __init__(
        self, model: ReadingModel, by: str, *, head: str = EMOTION_HEADS[0], replace_old: bool = False
    ):
        if head not in EMOTION_HEADS:
            raise AllearsError(f"emotions are given by {', '.join(EMOTION_HEADS)}; got {head!r}")
        self.model, self.by, self.head, self.replace_old = model, by, head_named(head), replace_old

    def __call__(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        for conversation in conversations:
            _refuse(conversation.emotion is not None, conversation, "an emotion", self.replace_old)
        said = [
            tuple(Turn(turn.speaker, turn.text) for turn in conversation.turns if turn.speaker is Role.SEEKER)
            for conversation in conversations
        ]
        answers = iter(_likeliest(self.model, self.head, [Reading(turns) for turns in said if turns]))
        return [
            _labelled(replace(conversation, emotion=next(answers)), {}, "emotion", self.by)
            if turns
            else conversation
            for conversation, turns in zip(conversations, said, strict=True)
        ]


class AddIntent:
    """The likeliest listener's intent of every supporter's turn."""

    def __init__(self, model: ReadingModel, by: str, *, replace_old: bool = False):
        self.model, self.by, self.head, self.replace_old = model, by, head_named("intent"), replace_old

    def __call__(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        supporters = [
            [turn for turn in conversation.turns if turn.speaker is Role.SUPPORTER]
            for conversation in conversations
        ]
        for conversation, turns in zip(conversations, supporters, strict=True):
            had = any(turn.intent is not None for turn in turns)
            _refuse(had, conversation, "an intent", self.replace_old)
        readings = [Reading((Turn(turn.speaker, turn.text),)) for turns in supporters for turn in turns]
        answers = iter(_likeliest(self.model, self.head, readings))
        return [
            _labelled(
                replace(conversation, turns=_with_intents(conversation.turns, answers)), {}, "intent", self.by
            )
            for conversation in conversations
        ]


class AddAct:
    """The likeliest dialogue act of every turn, whoever speaks."""

    def __init__(self, model: ReadingModel, by: str, *, replace_old: bool = False):
        self.model, self.by, self.replace_old = model, by, replace_old
        self.head = head_named("dailydialog-act")

    def __call__(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        for conversation in conversations:
            _refuse("acts_by_turn" in conversation.labels, conversation, "acts", self.replace_old)
        readings = [
            Reading((Turn(turn.speaker, turn.text),))
            for conversation in conversations
            for turn in conversation.turns
        ]
        answers = iter(_likeliest(self.model, self.head, readings))
        return [
            _labelled(
                conversation, {"acts_by_turn": [next(answers) for _ in conversation.turns]}, "act", self.by
            )
            for conversation in conversations
        ]


class AddMechanisms:
    """EPITOME's three levels for every supporter's turn, as a response to what the seeker said just before."""

    def __init__(
        self, model: Mapping[str, ReadingModel] | ReadingModel, by: str, *, replace_old: bool = False
    ):
        self.heads = {name: head_named(mechanism_head(name)) for name in MECHANISMS}
        self.models = model if isinstance(model, Mapping) else dict.fromkeys(self.heads, model)
        self.by, self.replace_old = by, replace_old

    def __call__(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        pairs = [list(_pairs(conversation.turns)) for conversation in conversations]
        for conversation in conversations:
            had = any(name in conversation.labels for name in _MECHANISM_LABELS)
            _refuse(had, conversation, "EPITOME's levels", self.replace_old)
        readings = [reading for found in pairs for _, reading in found]
        levels = {name: iter(answers) for name, answers in self._levels(readings).items()}
        return [
            _labelled(
                _without(conversation, _MECHANISM_LABELS),
                _levels(conversation, found, levels),
                "mechanisms",
                self.by,
            )
            for conversation, found in zip(conversations, pairs, strict=True)
        ]

    def _levels(self, readings: Sequence[Reading]) -> dict[str, list[str]]:
        """One reader that has all three heads reads once for all of them."""
        one = next(iter(self.models.values()))
        if (
            not readings
            or not isinstance(one, AnsweringReader)
            or any(model is not one for model in self.models.values())
        ):
            return {name: _likeliest(self.models[name], head, readings) for name, head in self.heads.items()}
        for head in self.heads.values():
            one.needs(head.name)
        answers = one.answers(readings)
        return {
            name: [head.labels[column] for column in answers[head.name].argmax(axis=1)]
            for name, head in self.heads.items()
        }


def mechanism_head(mechanism: str) -> str:
    return f"epitome-{mechanism.replace('_', '-')}"


def _levels(
    conversation: Conversation, pairs: list[tuple[int, Reading]], levels: Mapping[str, Iterator[str]]
) -> dict[str, Any]:
    found = {
        position: {name: {"level": int(next(answers))} for name, answers in levels.items()}
        for position, _ in pairs
    }
    if len(conversation.turns) == 2 and list(found) == [1]:
        return found[1]
    return {"mechanisms_by_turn": [found.get(position, {}) for position in range(len(conversation.turns))]}


def _pairs(turns: Sequence[Turn]) -> Iterator[tuple[int, Reading]]:
    """Each supporter's turn (its position) with what the seekers said in a row before it."""
    post: list[str] = []
    answered = False
    for position, turn in enumerate(turns):
        if turn.speaker is Role.SEEKER:
            post = [turn.text] if answered else [*post, turn.text]
            answered = False
        elif post:
            answered = True
            yield position, Reading((Turn(Role.SEEKER, " ".join(post)), Turn(Role.SUPPORTER, turn.text)))


def _with_intents(turns: Sequence[Turn], answers: Iterator[str]) -> tuple[Turn, ...]:
    return tuple(
        replace(turn, intent=next(answers)) if turn.speaker is Role.SUPPORTER else turn for turn in turns
    )


def _likeliest(model: ReadingModel, head: Head, readings: Sequence[Reading]) -> list[str]:
    if not readings:
        return []
    return [head.labels[column] for column in model.probabilities(head, readings).argmax(axis=1)]


def _refuse(has: bool, conversation: Conversation, what: str, replace_old: bool) -> None:
    if has and not replace_old:
        raise AllearsError(
            f"{conversation.source or 'the conversation'} {conversation.id!r} has {what} already; "
            "pass --replace to write over it"
        )


def _without(conversation: Conversation, names: Sequence[str]) -> Conversation:
    kept = {name: value for name, value in conversation.labels.items() if name not in names}
    return replace(conversation, labels=kept)


def _labelled(conversation: Conversation, labels: Mapping[str, Any], addition: str, by: str) -> Conversation:
    annotated = {**conversation.labels.get("annotated_by", {}), addition: by}
    return replace(conversation, labels={**conversation.labels, **labels, "annotated_by": annotated})
