"""What goes over the wire, with an example of each for the OpenAPI description."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from allears.conversation import Conversation, Persona, Role
from allears.labels import STRATEGIES
from allears.memory import Counts, StoredSentence, Summary
from allears.memory.choices import COUNTRY_LABEL
from allears.safety.dangers import Danger, Phase, SafetyState
from allears.safety.replies import ELSEWHERE, countries
from allears.serve.settings import LONGEST_MESSAGE
from allears.serve.talk import IncomingMessage, StoredReply

_ID = "3f8a1c0d9b7e2465"
LARGEST_SEED = 2**31 - 1
LARGEST_TURN = 2**31 - 1
LONGEST_SENTENCE = 500
LONGEST_TITLE = 120
LONGEST_OWN_SENTENCE = 200  # of the listener's own persona: the ranker reads some 22 tokens of each
MOST_OWN_SENTENCES = 10


def _has_words(text: str) -> str:
    if not text.strip():
        raise ValueError("at least one word is needed")
    return text


def _is_strategy(name: str | None) -> str | None:
    if name is not None and name not in STRATEGIES:
        raise ValueError(f"there is no such strategy; there are {', '.join(STRATEGIES)}")
    return name


def _is_country(code: str | None) -> str | None:
    if code is not None and code.upper() not in (*countries(), ELSEWHERE):
        raise ValueError("no help lines are listed for this country; GET /api/help has the list")
    return None if code is None else code.upper()


Words = Annotated[str, AfterValidator(_has_words)]
Strategy = Annotated[
    str | None,
    AfterValidator(_is_strategy),
    Field(description="Ask for a reply that does this, one of ESConv's eight.", examples=["Question"]),
]
ListenerPersona = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=LONGEST_OWN_SENTENCE), AfterValidator(_has_words)]],
    Field(
        max_length=MOST_OWN_SENTENCES,
        description="The persona that the listener itself speaks with, in sentences that begin with “I”.",
        examples=[["I spend my days in a garden."]],
    ),
]


class Shape(BaseModel):
    """Unknown fields are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    error: str = Field(description="One sentence that says what is wrong.")
    model_config = ConfigDict(json_schema_extra={"example": {"error": "There is no such conversation."}})


class MessageIn(Shape):
    text: Words = Field(min_length=1, max_length=LONGEST_MESSAGE, examples=["My sister is moving away."])
    seed: int = Field(
        default=0,
        ge=0,
        le=LARGEST_SEED,
        description="0 says the best reply; any other draws among those that are nearly as good.",
        examples=[0],
    )
    strategy: Strategy = None
    replaces: int | None = Field(
        default=None,
        ge=1,
        le=LARGEST_TURN,
        description="The turn of an earlier message of yours: it and all after it give way to this one.",
        examples=[None],
    )

    def said(self, request: str | None) -> IncomingMessage:
        return IncomingMessage(self.text, self.seed, self.strategy or "", self.replaces, request)


class SocketMessageIn(MessageIn):
    key: str | None = Field(default=None, min_length=1, max_length=200, description="As Idempotency-Key.")


class ChoicesIn(Shape):
    """Fields that are left out stay as they are; null takes a choice back."""

    title: str | None = Field(default=None, max_length=LONGEST_TITLE, examples=["My sister"])
    voice: str | None = Field(
        default=None, max_length=200, description="Who answers, by its name.", examples=["default"]
    )
    listener_persona: ListenerPersona = []
    country: Annotated[str | None, AfterValidator(_is_country)] = Field(
        default=None, max_length=2, description="Whose help lines to name, as in GB.", examples=["GB"]
    )

    def changes(self) -> dict[str, Any]:
        """What was given, under the names that the memory has for it."""
        given = self.model_dump(exclude_unset=True)
        if "listener_persona" in given:
            given["listener"] = [sentence.strip() for sentence in given.pop("listener_persona")]
        if "title" in given:
            given["title"] = (given["title"] or "").strip() or None
        return given


class BackIn(Shape):
    turn: int | None = Field(
        default=None,
        ge=1,
        le=LARGEST_TURN,
        description="The turn of a message of yours; your last one if it is left out.",
        examples=[1],
    )


class StopIn(Shape):
    key: str | None = Field(
        default=None, min_length=1, max_length=200, description="The Idempotency-Key of the message."
    )


class StopOut(BaseModel):
    stopped: bool = Field(description="Whether the message was not stored, or was taken back.")


class ReplyOut(BaseModel):
    conversation: str = Field(examples=[_ID])
    turn: int = Field(description="The number of the reply's turn, from 1.", examples=[2])
    text: str = Field(examples=["That leaves a gap. What will you miss most?"])
    why: dict[str, Any] = Field(
        description="Everything behind the reply: what the crisis screen found, emotions, strategies, persona "
        "sentences and their weights, candidates and scores, milliseconds by step.",
        examples=[{"kind": "reply", "emotions": [["sad", 0.61]], "strategy": "Question"}],
    )

    @classmethod
    def of(cls, told: StoredReply) -> ReplyOut:
        return cls(conversation=told.conversation, turn=told.turn, text=told.text, why=told.why)


class WhyOut(BaseModel):
    conversation: str = Field(examples=[_ID])
    turn: int = Field(examples=[2])
    why: dict[str, Any]


class TurnOut(BaseModel):
    speaker: Literal["seeker", "supporter"]
    text: str
    emotion: str | None = None
    strategy: str | None = None


class PersonaOut(BaseModel):
    text: str = Field(examples=["I have a sister."])
    source: str = Field(description="Where it was said.", examples=["turn 1"])


class SafetyOut(BaseModel):
    """Where the crisis screen stands: after danger it stays on until you say that you are safe."""

    phase: Phase
    danger: Danger | None = None


class ConversationOut(BaseModel):
    id: str = Field(examples=[_ID])
    title: str | None = Field(default=None, examples=["My sister"])
    voice: str = Field(description="Who answers the next message.", examples=["default"])
    listener_persona: list[str] = Field(description="The persona that the listener itself speaks with.")
    country: str | None = Field(default=None, examples=["GB"])
    safety: SafetyOut
    turns: list[TurnOut] = Field(examples=[[{"speaker": "seeker", "text": "My sister is moving away."}]])
    persona: list[PersonaOut] = Field(description="What this conversation knows about you.")

    @classmethod
    def of(cls, conversation: Conversation, *, title: str | None, voice: str) -> ConversationOut:
        known = conversation.personas.get(Role.SEEKER.value)
        own = conversation.personas.get(Role.SUPPORTER.value, Persona())
        state = SafetyState.from_dict(conversation.labels.get("safety", {}))
        return cls(
            id=conversation.id,
            title=title,
            voice=voice,
            listener_persona=list(own.texts),
            country=conversation.labels.get(COUNTRY_LABEL),
            safety=SafetyOut(phase=state.phase, danger=state.danger),
            turns=[
                TurnOut(
                    speaker=turn.speaker.value, text=turn.text, emotion=turn.emotion, strategy=turn.strategy
                )
                for turn in conversation.turns
            ],
            persona=[PersonaOut(text=each.text, source=each.source) for each in known.sentences]
            if known
            else [],
        )


class SummaryOut(BaseModel):
    id: str = Field(examples=[_ID])
    started: datetime
    last: datetime
    turns: int
    first_words: str = Field(examples=["My sister is moving away."])
    title: str | None = Field(default=None, examples=["My sister"])
    match: str | None = Field(
        default=None, description="In a search, the words around what was found.", examples=[None]
    )

    @classmethod
    def of(cls, summary: Summary) -> SummaryOut:
        return cls(**asdict(summary))


class SummariesOut(BaseModel):
    conversations: list[SummaryOut] = Field(description="The latest first.")


class EarlierOut(BaseModel):
    text: str
    reason: str
    until: datetime


class SentenceOut(BaseModel):
    id: str = Field(examples=["9b7e24653f8a1c0d"])
    text: str = Field(examples=["I have a sister."])
    conversation: str | None = Field(description="Where it was said; null for what you wrote down yourself.")
    turn: int | None
    created: datetime
    edited: bool
    remembered: bool = Field(description="Whether new conversations know it.")
    history: list[EarlierOut]

    @classmethod
    def of(cls, sentence: StoredSentence) -> SentenceOut:
        return cls(**asdict(sentence))


class SentencesOut(BaseModel):
    sentences: list[SentenceOut]


class SentenceIn(Shape):
    text: Words = Field(min_length=1, max_length=LONGEST_SENTENCE, examples=["I have a younger sister."])


class Consent(Shape):
    agreed: bool = Field(
        description="Whether what you tell about yourself is remembered in later conversations.",
        examples=[True],
    )


class ConsentOut(BaseModel):
    agreed: bool = Field(
        description="Whether what you tell about yourself is remembered in later conversations."
    )
    asked: bool = Field(description="Whether you were asked, and said yes or no.")


class EraseIn(Shape):
    sure: Literal[True] = Field(description="There is no way back.", examples=[True])


class CountsOut(BaseModel):
    conversations: int
    turns: int
    sentences: int

    @classmethod
    def of(cls, counts: Counts) -> CountsOut:
        return cls(**asdict(counts))


class HealthOut(BaseModel):
    status: Literal["ok"]
    version: str
    needs_token: bool = Field(description="Whether an access token is needed for everything else.")
