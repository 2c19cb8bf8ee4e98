"""Errors as the server tells them: one sentence, the right status, and nothing of what was sent.

Under /api it is `{"error": sentence}`, under /v1 the shape that OpenAI's clients read.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from allears.errors import AllearsError
from allears.memory import ConflictError, NotFoundError, UnavailableError
from allears.serve.batching import BusyError

log = logging.getLogger("allears.serve")

NO_CONVERSATION = "There is no such conversation."
NO_SENTENCE = "There is no such sentence."
NO_REASONS = "There are no reasons stored for such a turn."

_EXPECTED = (NotFoundError, ConflictError, BusyError)
_TOLD: tuple[tuple[type[Exception], int, str], ...] = (
    (NotFoundError, 404, NO_CONVERSATION),  # the same words for what never was and for what is another's
    (ConflictError, 409, "Somebody else wrote to this conversation; load it again."),
    (BusyError, 503, "Many people are talking right now; try again in a moment."),
    (UnavailableError, 503, "The database cannot be used now; try again in a moment."),
    (AllearsError, 503, "The listener cannot answer now; try again in a moment."),
)
_PLAIN = {  # by Pydantic's name for the problem
    "string_too_short": "at least one word is needed",
    "string_type": "this must be a text",
    "string_unicode": "this is no whole text: a sign in it is cut in two",
    "missing": "this is missing",
    "extra_forbidden": "there is no such field here",
    "json_invalid": "the request is not valid JSON",
}
_OPENAI_KINDS = {
    401: ("authentication_error", "invalid_api_key"),
    403: ("permission_error", None),
    404: ("invalid_request_error", "not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}


def error_response(path: str, error: HTTPException) -> JSONResponse:
    """The answer to a request for `path` that ended with this error."""
    return JSONResponse(error_body(path, error), error.status_code, headers=dict(error.headers or {}))


def error_body(path: str, error: HTTPException) -> Mapping[str, Any]:
    if not path.startswith("/v1/"):
        return {"error": error.detail}
    kind = "server_error" if error.status_code >= 500 else "invalid_request_error"
    name, code = _OPENAI_KINDS.get(error.status_code, (kind, None))
    return {"error": {"message": error.detail, "type": name, "param": None, "code": code}}


def sentence(problems: Sequence[Mapping[str, Any]]) -> str:
    """What is wrong with a request: where, and what was expected. Not what was sent."""
    first = problems[0]
    place = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path", "header"))
    what = _in_plain_words(first)
    return (
        f"{place}: {what}." if place and first["type"] != "json_invalid" else f"{what[:1].upper()}{what[1:]}."
    )


def _in_plain_words(problem: Mapping[str, Any]) -> str:
    kind, limits = problem["type"], problem.get("ctx", {})
    if kind == "string_too_long":
        return f"at most {limits['max_length']:,} characters are taken at once; please send it in parts"
    if kind == "too_long":
        return f"there may be at most {limits['max_length']}"
    return _PLAIN.get(kind) or str(problem["msg"]).removeprefix("Value error, ")


def as_http_error(error: Exception) -> HTTPException:
    """What went wrong inside, as a status and a sentence for whoever asked; for whoever runs the server, a log line."""
    if isinstance(error, HTTPException):
        return error
    if isinstance(error, UnavailableError):
        log.error("%s", error)  # its words are about the database: where it is, what it lacks
    elif not isinstance(error, _EXPECTED):
        log.error("%s", where(error))
    for kind, status, text in _TOLD:
        if isinstance(error, kind):
            return HTTPException(status, text, headers={"Retry-After": "1"} if status == 503 else None)
    return HTTPException(500, "Something went wrong here; it was logged. Please try again.")


def where(error: Exception) -> str:
    """An exception's kind and the lines it came through, without its words: they may hold what a person wrote."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    steps = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    return f"{type(error).__name__} at {steps}"


async def tell_problem(request: Request, error: Exception) -> JSONResponse:
    return error_response(request.url.path, as_http_error(error))


async def tell_bad_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    status = 400 if request.url.path.startswith("/v1/") else 422
    return error_response(request.url.path, HTTPException(status, sentence(error.errors())))
