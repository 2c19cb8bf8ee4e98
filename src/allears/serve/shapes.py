"""What goes over the wire, with an example of each for the OpenAPI description."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from allears.conversation import Conversation
from allears.memory import Counts, StoredSentence, Summary
from allears.serve.settings import LONGEST_MESSAGE
from allears.serve.talk import Told

_ID = "3f8a1c0d9b7e2465"
LARGEST_SEED = 2**31 - 1
LONGEST_SENTENCE = 500


def _has_words(text: str) -> str:
    if not text.strip():
        raise ValueError("at least one word is needed")
    return text


Words = Annotated[str, AfterValidator(_has_words)]


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


class SocketMessageIn(MessageIn):
    key: str | None = Field(default=None, min_length=1, max_length=200, description="As Idempotency-Key.")


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
    def of(cls, told: Told) -> ReplyOut:
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


class ConversationOut(BaseModel):
    id: str = Field(examples=[_ID])
    turns: list[TurnOut] = Field(examples=[[{"speaker": "seeker", "text": "My sister is moving away."}]])
    persona: list[PersonaOut] = Field(description="What this conversation knows about you.")

    @classmethod
    def of(cls, conversation: Conversation) -> ConversationOut:
        known = conversation.personas.get("seeker")
        return cls(
            id=conversation.id,
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
