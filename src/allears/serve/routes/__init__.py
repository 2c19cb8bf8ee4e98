"""The routes under /api. Each file is one thing a person can do; all of them only read, call and answer."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Depends, Header, HTTPException, Path

from allears.serve.errors import NO_CONVERSATION, NO_SENTENCE
from allears.serve.services import Services, asking, serving
from allears.serve.shapes import Problem

_NAME = re.compile(r"[0-9a-f]{16}")


async def _conversation_id(conversation: Annotated[str, Path(examples=["3f8a1c0d9b7e2465"])]) -> str:
    return checked_name(conversation, NO_CONVERSATION)


async def _sentence_id(sentence: Annotated[str, Path(examples=["9b7e24653f8a1c0d"])]) -> str:
    return checked_name(sentence, NO_SENTENCE)


def checked_name(name: str, otherwise: str) -> str:
    """An id as we give them. What cannot be one is answered like one that does not exist."""
    if not _NAME.fullmatch(name):
        raise HTTPException(404, otherwise)
    return name


Serving = Annotated[Services, Depends(serving)]
Person = Annotated[str, Depends(asking)]
ConversationId = Annotated[str, Depends(_conversation_id)]
SentenceId = Annotated[str, Depends(_sentence_id)]
RequestKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="Any text of your own. The same again does nothing again and gives the same answer.",
    ),
]

_MEANINGS = {
    400: "The body cannot be read.",
    401: "No valid access token.",
    403: "A page or a name this server does not answer to.",
    404: "Not there, or not yours: nobody can tell which.",
    409: "It does not go with how things stand now.",
    413: "The request is too large.",
    422: "Something in the request is not as expected.",
    429: "Too many requests; `Retry-After` says when to try again.",
    503: "The database or the listener cannot answer now.",
}
_ALWAYS = (400, 401, 403, 413, 422, 429, 503)


def problems(*more: int) -> dict[int | str, dict[str, Any]]:
    """What a route may answer besides its result, for the OpenAPI description."""
    return {
        status: {"model": Problem, "description": _MEANINGS[status]} for status in sorted({*_ALWAYS, *more})
    }
