"""The protocol of OpenAI's chat clients, so that those can talk to the listener.

The list of messages is the conversation: what the person and the listener said before, and last what the person says
now. Nothing is stored, and nothing stored is used, unless the client says `store: true`. System messages and settings
such as the temperature are accepted and not heard: they cannot change how the listener speaks, and least of all can
they switch off its crisis screen. Whether danger was in the room before is read from the messages themselves.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from secrets import token_hex
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from allears.conversation import Conversation, Role, Turn
from allears.serve.errors import NO_CONVERSATION
from allears.serve.routes import Person, Serving, checked_name
from allears.serve.services import Services
from allears.serve.settings import LONGEST_MESSAGE
from allears.serve.shapes import LARGEST_SEED
from allears.serve.talk import IncomingMessage, pieces

MODEL = "allears"
MOST_MESSAGES = 1000
_SPEAKERS = {"user": Role.SEEKER, "assistant": Role.SUPPORTER}

router = APIRouter(prefix="/v1", tags=["openai"])


class Part(BaseModel):
    type: str
    text: str | None = None


class ChatMessage(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @property
    def words(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text" and part.text).strip()
        return (self.content or "").strip()


class StreamOptions(BaseModel):
    include_usage: bool | None = None


class ChatRequest(BaseModel):
    """What we use of OpenAI's request; other fields are accepted and have no effect."""

    model: str = Field(default=MODEL, examples=[MODEL])
    messages: list[ChatMessage] = Field(
        min_length=1,
        max_length=MOST_MESSAGES,
        examples=[[{"role": "user", "content": "My sister is moving away."}]],
    )
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None
    seed: int | None = None
    store: bool | None = Field(default=None, description="Store the conversation as one of yours.")
    metadata: dict[str, str] | None = Field(
        default=None,
        description="`conversation`: with `store`, the id of the stored conversation to go on with.",
    )


class ErrorDetail(BaseModel):
    message: str
    type: str
    param: str | None = None
    code: str | None = None


class OpenAIProblem(BaseModel):
    error: ErrorDetail


class ModelOut(BaseModel):
    id: str = Field(examples=[MODEL])
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = MODEL


class ModelsOut(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelOut]


class AnswerMessage(BaseModel):
    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None


class Choice(BaseModel):
    index: int = 0
    message: AnswerMessage
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class Usage(BaseModel):
    """In words: the listener has no tokens to sell."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(BaseModel):
    id: str = Field(examples=["chatcmpl-3f8a1c0d9b7e2465"])
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str = MODEL
    choices: list[Choice]
    usage: Usage
    metadata: dict[str, str] | None = Field(default=None, description="With `store`, the conversation's id.")
    why: dict[str, Any] = Field(description="Beyond OpenAI's protocol: everything behind the reply.")
    model_config = ConfigDict(extra="forbid")


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": OpenAIProblem} for status in (400, 401, 403, 404, 409, 413, 422, 429, 503)
}

_CHUNK = {"type": "object", "required": ["data"], "properties": {"data": {"type": "string"}}}  # of each event


@router.get("/models", responses=_PROBLEMS)
async def models(person: Person) -> ModelsOut:
    """The one model there is."""
    return ModelsOut(data=[ModelOut(id=MODEL)])


@router.get("/models/{model}", responses=_PROBLEMS)
async def model(person: Person, model: Annotated[str, Path(examples=[MODEL])]) -> ModelOut:
    _check_model(model)
    return ModelOut(id=MODEL)


@router.post(
    "/chat/completions",
    response_model=ChatCompletion,
    responses=_PROBLEMS
    | {200: {"description": "The reply.", "content": {"text/event-stream": {"schema": _CHUNK}}}},
)
async def complete(serving: Serving, person: Person, request: ChatRequest) -> Any:
    """Answer a conversation, the way OpenAI's clients ask for it."""
    _check_model(request.model)
    if request.n not in (None, 1):
        raise HTTPException(400, "n: there is one reply at a time.")
    conversation, message = _conversation(request.messages)
    seed = abs(request.seed or 0) % (LARGEST_SEED + 1)
    if request.store:
        wanted = (request.metadata or {}).get("conversation")
        name, text, why = await _stored(serving, person, conversation, message, wanted, seed)
        metadata: dict[str, str] | None = {"conversation": name}
    else:
        reply = await serving.voices.respond(message, await _with_safety(serving, conversation), seed)
        serving.metrics.reply(reply.why.milliseconds)
        text, why, metadata = reply.text, reply.why.to_dict(), None
    asked = sum(len(each.words.split()) for each in request.messages)
    answered = len(text.split())
    completion = ChatCompletion(
        id=f"chatcmpl-{token_hex(8)}",
        created=int(time.time()),
        choices=[Choice(message=AnswerMessage(content=text))],
        usage=Usage(prompt_tokens=asked, completion_tokens=answered, total_tokens=asked + answered),
        metadata=metadata,
        why=why,
    )
    if not request.stream:
        return completion
    with_usage = bool(request.stream_options and request.stream_options.include_usage)
    return StreamingResponse(_chunks(completion, with_usage), media_type="text/event-stream")


def _check_model(name: str) -> None:
    if name != MODEL:
        raise HTTPException(404, f"There is one model here, and it is called {MODEL}.")


def _conversation(messages: Sequence[ChatMessage]) -> tuple[Conversation, str]:
    """What was said before, and what is said now."""
    turns = [
        Turn(_SPEAKERS[message.role], message.words)
        for message in messages
        if message.role in _SPEAKERS and message.words
    ]
    if not turns or turns[-1].speaker is not Role.SEEKER or messages[-1].role != "user":
        raise HTTPException(400, "messages: the last one must be the user's, with at least one word.")
    if len(turns[-1].text) > LONGEST_MESSAGE:
        raise HTTPException(400, f"messages: one may have at most {LONGEST_MESSAGE:,} characters.")
    return Conversation(token_hex(8), tuple(turns[:-1])), turns[-1].text


async def _with_safety(serving: Services, conversation: Conversation) -> Conversation:
    """The conversation with the crisis screen's state in it, as if we had been there all along."""
    state = await asyncio.to_thread(serving.screen.state_after, conversation.turns)
    return replace(conversation, labels={**conversation.labels, "safety": state.to_dict()})


async def _stored(
    serving: Services, person: str, before: Conversation, message: str, wanted: str | None, seed: int
) -> tuple[str, str, dict[str, Any]]:
    """Answer in a stored conversation: the one that was named, or a new one that begins with `before`."""
    talk, memory = serving.talk, serving.memory
    if wanted is None:
        name = await talk.remember(memory.start, person)
        if before.turns:
            known = await talk.remember(memory.load, person, name)
            safe = await _with_safety(serving, before)
            earlier = replace(known, turns=safe.turns, labels={**known.labels, **safe.labels})
            await talk.remember(memory.append, person, name, earlier, after=0)
    else:
        name = checked_name(wanted, NO_CONVERSATION)
    told = await talk.say(person, name, IncomingMessage(message, seed))
    return told.conversation, told.text, told.why


def _chunks(completion: ChatCompletion, with_usage: bool) -> Iterator[str]:
    shared: Mapping[str, Any] = {
        "id": completion.id,
        "object": "chat.completion.chunk",
        "created": completion.created,
        "model": completion.model,
    }

    def chunk(delta: Mapping[str, Any], finish_reason: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return _event({**shared, "choices": [choice], **more})

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(completion.choices[0].message.content):
        yield chunk({"content": piece})
    yield chunk({}, "stop", metadata=completion.metadata, why=completion.why)
    if with_usage:
        yield _event({**shared, "choices": [], "usage": completion.usage.model_dump()})
    yield "data: [DONE]\n\n"


def _event(data: Any) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"
