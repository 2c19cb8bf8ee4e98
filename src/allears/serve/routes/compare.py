"""The same message, answered several ways side by side: by other voices, personas, strategies. Nothing is stored."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from secrets import token_hex
from typing import Any

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, Field

from allears.conversation import Conversation, Persona, PersonaSentence, Role
from allears.listener.contract import Wish
from allears.memory.choices import VOICE_LABEL
from allears.serve.errors import NO_CONVERSATION, as_http_error
from allears.serve.gate import check_rate
from allears.serve.routes import Person, Serving, checked_name, problems
from allears.serve.services import Services
from allears.serve.settings import LONGEST_MESSAGE
from allears.serve.shapes import LARGEST_SEED, ListenerPersona, Shape, Strategy, Words

router = APIRouter(prefix="/api", tags=["compare"])

MOST_COLUMNS = 4
LARGEST_ALPHA = 2.0  # the paper stops at 0.75
NO_ALPHA = "This voice has no alpha: it does not write with a persona and without one."


class ColumnIn(Shape):
    voice: str | None = Field(default=None, max_length=200, examples=["default"])
    listener_persona: ListenerPersona | None = Field(
        default=None, description="Null: the conversation's own. Empty: none."
    )
    alpha: float | None = Field(
        default=None,
        ge=0,
        le=LARGEST_ALPHA,
        description="How much every strategy leans on what is known about you (PAL, equation 6).",
        examples=[None],
    )
    strategy: Strategy = None
    seed: int = Field(default=0, ge=0, le=LARGEST_SEED)


class CompareIn(Shape):
    text: Words | None = Field(
        default=None,
        min_length=1,
        max_length=LONGEST_MESSAGE,
        description="The message; null for your last one in the conversation.",
        examples=["My sister is moving away."],
    )
    conversation: str | None = Field(
        default=None, description="Where it is said; null for a message that stands alone.", examples=[None]
    )
    columns: list[ColumnIn] = Field(min_length=1, max_length=MOST_COLUMNS, examples=[[{"voice": "default"}]])


class ColumnOut(BaseModel):
    voice: str
    text: str | None = Field(description="Null where this voice could not answer.")
    why: dict[str, Any] | None
    error: str | None = Field(default=None, description="Why it could not.")
    alpha: float | None = Field(description="The alpha that was used.")
    note: str = Field(description="What could not be done as it was asked.")
    milliseconds: float


class CompareOut(BaseModel):
    message: str
    columns: list[ColumnOut]


@router.post("/compare", responses=problems(404, 409))
async def compare(serving: Serving, person: Person, asked: CompareIn) -> CompareOut:
    """Answer one message several ways. Every answer passes the crisis screen and the review, and none is stored."""
    for column in asked.columns:
        if column.voice is not None:
            serving.voices.check(column.voice)
    for _ in asked.columns[1:]:  # each answer costs as much as a message
        check_rate(serving.limit, person)
    conversation, message = await _message(serving, person, asked)
    columns = [_answer(serving, conversation, message, column) for column in asked.columns]
    return CompareOut(message=message, columns=list(await asyncio.gather(*columns)))


async def _message(serving: Services, person: str, asked: CompareIn) -> tuple[Conversation, str]:
    """What is answered, and the conversation before it."""
    if asked.conversation is None:
        if asked.text is None:
            raise HTTPException(422, "text: give a message, or a conversation whose last one is answered.")
        return Conversation(token_hex(8), ()), asked.text
    name = checked_name(asked.conversation, NO_CONVERSATION)
    whole = await serving.talk.remember(serving.memory.load, person, name)
    if asked.text is not None:
        return whole, asked.text
    spoken = [number for number, turn in enumerate(whole.turns, 1) if turn.speaker is Role.SEEKER]
    if not spoken:
        raise HTTPException(409, "Nothing has been said in this conversation yet.")
    before, _ = await serving.talk.remember(serving.memory.load_before, person, name, spoken[-1])
    return before, whole.turns[spoken[-1] - 1].text


async def _answer(serving: Services, conversation: Conversation, message: str, column: ColumnIn) -> ColumnOut:
    """One column. What goes wrong in it is told in it, and the others still answer."""
    voice = serving.voices.chosen(column.voice or conversation.labels.get(VOICE_LABEL))
    alpha = column.alpha if voice.takes_alpha else None
    start = time.perf_counter()
    text, why, problem = None, None, None
    try:
        before = _as_asked(conversation, column, voice.name)
        wish = Wish(column.strategy or "", alpha)
        reply = await serving.voices.respond(message, before, column.seed, wish, voice=voice.name)
        text, why = reply.text, serving.talk.reasons(reply, before)
    except Exception as error:
        problem = as_http_error(error).detail
    return ColumnOut(
        voice=voice.name,
        text=text,
        why=why,
        error=problem,
        alpha=alpha,
        note=NO_ALPHA if column.alpha is not None and alpha is None else "",
        milliseconds=round(1000 * (time.perf_counter() - start), 1),
    )


def _as_asked(conversation: Conversation, column: ColumnIn, voice: str) -> Conversation:
    labels = {**conversation.labels, VOICE_LABEL: voice}
    personas = dict(conversation.personas)
    if column.listener_persona is not None:
        own = tuple(PersonaSentence(sentence.strip()) for sentence in column.listener_persona)
        personas[Role.SUPPORTER.value] = Persona(own)
    return replace(conversation, labels=labels, personas=personas)
