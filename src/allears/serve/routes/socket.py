"""A conversation over a WebSocket.

The client sends {"text": ..., "key": ...} and whatever else a message may have, of which only the text is needed. The
server answers each with {"type": "piece", "text": ...}, several, and {"type": "reply", ...}; or
{"type": "error", "status", "error"}.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, WebSocket
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.websockets import WebSocketDisconnect

from allears.errors import AllearsError
from allears.serve.auth import SUBPROTOCOL
from allears.serve.errors import NO_CONVERSATION, as_http_error, error_body, error_response, sentence
from allears.serve.gate import check_rate
from allears.serve.routes import checked_name
from allears.serve.services import Services, person_of, services_of
from allears.serve.shapes import ReplyOut, SocketMessageIn

router = APIRouter()


@router.websocket("/api/conversations/{conversation}/ws")
async def converse(socket: WebSocket, conversation: str) -> None:
    serving, person = services_of(socket), person_of(socket)
    try:
        if serving.sockets[person] >= serving.settings.sockets:
            raise HTTPException(429, "You have too many connections open; close some first.")
        checked_name(conversation, NO_CONVERSATION)
        await serving.talk.remember(serving.memory.load, person, conversation)
    except (AllearsError, HTTPException) as error:
        await socket.send_denial_response(error_response(socket.url.path, as_http_error(error)))
        return
    serving.sockets[person] += 1
    try:
        offered = socket.scope.get("subprotocols", [])
        await socket.accept(SUBPROTOCOL if SUBPROTOCOL in offered else None)
        while True:
            await _answer(socket, serving, person, conversation, await _next(socket))
    except WebSocketDisconnect:
        return
    finally:
        serving.sockets[person] -= 1
        if not serving.sockets[person]:
            del serving.sockets[person]


async def _next(socket: WebSocket) -> str | bytes:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    text = message.get("text")
    return text if text is not None else message.get("bytes") or b""


async def _answer(
    socket: WebSocket, serving: Services, person: str, conversation: str, said: str | bytes
) -> None:
    try:
        check_rate(serving.limit, person)
        if len(said) > serving.settings.body_bytes:
            raise HTTPException(413, f"A message may have at most {serving.settings.body_bytes:,} bytes.")
        message = SocketMessageIn.model_validate_json(said)
        told = await serving.talk.say(person, conversation, message.said(message.key))
    except ValidationError as error:
        problems = error.errors(include_input=False, include_url=False)
        await socket.send_json(_problem(HTTPException(422, sentence(problems))))
        return
    except Exception as error:  # one message that cannot be answered does not end the conversation
        await socket.send_json(_problem(as_http_error(error)))
        return
    for piece in told.pieces:
        await socket.send_json({"type": "piece", "text": piece})
    await socket.send_json({"type": "reply", **ReplyOut.of(told).model_dump(mode="json")})


def _problem(error: HTTPException) -> dict[str, Any]:
    after = (error.headers or {}).get("Retry-After")
    more = {} if after is None else {"retry_after": int(after)}
    return {"type": "error", "status": error.status_code, **error_body("/api/", error), **more}
