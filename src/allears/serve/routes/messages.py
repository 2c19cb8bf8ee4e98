"""Saying something: a plain answer, or server-sent events.

A reply is ranked and reviewed as a whole, so it is whole and stored before its first word is sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from fastapi.responses import StreamingResponse

from allears.serve.routes import ConversationId, Person, RequestKey, Serving, problems
from allears.serve.shapes import MessageIn, ReplyOut
from allears.serve.talk import StoredReply

router = APIRouter(prefix="/api/conversations/{conversation}", tags=["messages"])

EVENT_STREAM = "text/event-stream"
_EVENTS: dict[str, Any] = {
    "schema": {  # of each event
        "type": "object",
        "required": ["event", "data"],
        "properties": {
            "event": {"type": "string", "enum": ["piece", "reply"]},
            "data": {
                "type": "string",
                "description": 'JSON: `{"text": ...}`, or the whole reply with its why.',
            },
        },
    }
}


@router.post(
    "/messages",
    response_model=ReplyOut,
    responses=problems(404, 409)
    | {200: {"description": "The reply, and why.", "content": {EVENT_STREAM: _EVENTS}}},
)
async def say(
    serving: Serving,
    person: Person,
    conversation: ConversationId,
    message: MessageIn,
    key: RequestKey = None,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> Any:
    """Say something and be answered. With `Accept: text/event-stream` the reply comes word by word."""
    told = await serving.talk.say(person, conversation, message.said(key))
    return _stream(told) if _wants_events(accept) else ReplyOut.of(told)


@router.post(
    "/messages/stream",
    response_class=StreamingResponse,
    responses=problems(404, 409)
    | {200: {"description": "`piece` events, then one `reply`.", "content": {EVENT_STREAM: _EVENTS}}},
)
async def say_in_pieces(
    serving: Serving, person: Person, conversation: ConversationId, message: MessageIn, key: RequestKey = None
) -> Response:
    """Say something and be answered word by word."""
    return _stream(await serving.talk.say(person, conversation, message.said(key)))


def _wants_events(accept: str) -> bool:
    return any(kind.partition(";")[0].strip().lower() == EVENT_STREAM for kind in accept.split(","))


def _stream(told: StoredReply) -> StreamingResponse:
    return StreamingResponse(_events(told), media_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"})


def _events(told: StoredReply) -> Iterator[str]:
    for piece in told.pieces:
        yield event("piece", {"text": piece})
    yield event("reply", ReplyOut.of(told).model_dump(mode="json"))


def event(name: str, data: Any) -> str:
    """One server-sent event."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
