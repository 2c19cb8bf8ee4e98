"""The study's server: routes under /api/study, and the pages beside them. The contract is in docs/study.md.

Whoever knows a rater's token is that rater. Nothing that is sent says which system wrote what.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from allears import __version__
from allears.errors import AllearsError
from allears.safety.replies import countries
from allears.serve.auth import Door
from allears.serve.errors import error_response, tell_bad_request, tell_problem
from allears.serve.gate import Gate
from allears.serve.help import help_in
from allears.serve.limits import RateLimit
from allears.serve.metrics import Metrics
from allears.serve.pages import Pages
from allears.serve.settings import ServerSettings
from allears.study.errors import NotAnsweredError, NotKnownError, OutOfStepError, TooQuickError
from allears.study.rows import Rater
from allears.study.session import Sessions

LOOK_EVERY = 0.4  # seconds between two looks at a pair
HEARTBEAT = 10.0  # seconds between two comments in a stream where nothing happens
MOST_ANSWERS, LONGEST = 200, 8000

router = APIRouter(prefix="/api/study")


@dataclass(frozen=True)
class StudySettings(ServerSettings):
    """Where a study is served. Participants bring the tokens of their links, so an open address needs none."""

    port: int = 8378
    rate: float = 20.0
    burst: int = 200

    def __post_init__(self) -> None:
        for origin in self.origins:
            if not origin.startswith(("http://", "https://")) or origin.count("/") != 2:
                raise AllearsError(
                    f"--origin must look like https://example.org, without a path, got {origin!r}"
                )


class StudyDoor(Door):
    """Lets everybody to the routes, which look for the rater; what it keeps out are pages from elsewhere."""

    def person(self, headers: Headers) -> str | None:
        return _token(headers) or "visitor"  # whose requests are counted together


class Home:
    """Somebody who opens the bare address is at the study."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/" and scope["method"] in ("GET", "HEAD"):
            query = scope["query_string"].decode("latin-1")
            await RedirectResponse(f"/study?{query}" if query else "/study", 307)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def create_study_app(sessions: Sessions, settings: StudySettings | None = None) -> FastAPI:
    """A server for one study. Whoever made the sessions' store closes it."""
    settings = settings or StudySettings()
    app = FastAPI(
        title="allears study",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,  # it would tell participants more than they need
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.sessions = sessions
    app.include_router(router)
    for kind in (NotKnownError, OutOfStepError, NotAnsweredError, TooQuickError):
        app.add_exception_handler(kind, _tell)
    for other in (HTTPException, AllearsError):
        app.add_exception_handler(other, tell_problem)
    app.add_exception_handler(RequestValidationError, tell_bad_request)
    app.add_middleware(Pages)
    app.add_middleware(Home)
    app.add_middleware(
        Gate,
        door=StudyDoor(settings),
        limit=RateLimit(settings.rate, settings.burst),
        metrics=Metrics(),
        body_bytes=settings.body_bytes,
    )
    return app


async def _tell(request: Request, error: Exception) -> JSONResponse:
    status = {OutOfStepError: 409, NotAnsweredError: 422, TooQuickError: 425}.get(type(error), 404)
    headers = None
    if isinstance(error, TooQuickError):
        headers = {"Retry-After": str(math.ceil(error.seconds))}
    return error_response(request.url.path, HTTPException(status, str(error), headers))


# --- who asks


def _token(headers: Headers) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _sessions(request: Request) -> Sessions:
    found: Sessions = request.app.state.sessions
    return found


def _asking(request: Request) -> Rater:
    token = _token(request.headers)
    if not token:
        raise HTTPException(401, "Please open the link that you were given.")
    try:
        return _sessions(request).store.rater(token)
    except NotKnownError as error:
        raise HTTPException(401, str(error)) from error


Serving = Annotated[Sessions, Depends(_sessions)]
Asking = Annotated[Rater, Depends(_asking)]
Words = Annotated[StrictStr, Field(max_length=LONGEST)]
Place = Annotated[StrictInt, Field(ge=0, le=10_000)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class EnterIn(Body):
    open: Annotated[StrictStr, Field(max_length=200)] = ""
    prolific: Annotated[StrictStr, Field(max_length=200)] = ""
    mturk: Annotated[StrictStr, Field(max_length=200)] = ""


class ConsentIn(Body):
    agree: StrictBool


class AnswersIn(Body):
    answers: Annotated[dict[StrictStr, StrictInt | Words | None], Field(max_length=MOST_ANSWERS)]


class ChatIn(Body):
    side: Annotated[StrictStr, Field(max_length=1)]
    number: Place
    text: Words


class SituationIn(Body):
    emotion: Annotated[StrictStr, Field(max_length=64)]
    text: Words


class LineIn(Body):
    text: Words
    number: Place


class FinishIn(Body):
    talk: Annotated[StrictInt, Field(ge=1, le=2)]


class SureIn(Body):
    sure: StrictBool


class NothingIn(Body):
    pass


# --- routes. They are plain functions: FastAPI runs each in a thread, where a database may be waited for.


@router.get("")
def about(sessions: Serving) -> dict[str, Any]:
    design = sessions.design
    return {
        "title": design.title,
        "about": design.about,
        "language": design.language,
        "contact": design.contact,
        "minutes": design.minutes,
        "needs_open_token": True,
    }


@router.get("/help")
def whom_to_call(country: str | None = None) -> dict[str, Any]:
    listed = [{"code": code, "name": name} for code, name in countries().items()]
    return {**help_in(country).to_dict(), "countries": listed}


@router.post("/enter")
def enter(body: EnterIn, sessions: Serving) -> dict[str, str]:
    try:
        return {"token": sessions.store.enter(body.open, prolific=body.prolific, mturk=body.mturk)}
    except NotKnownError as error:
        raise HTTPException(403, str(error)) from error


@router.post("/next")
def next_step(sessions: Serving, rater: Asking, body: NothingIn | None = None) -> dict[str, Any]:
    return _step(sessions, rater)


@router.post("/consent")
def consent(body: ConsentIn, sessions: Serving, rater: Asking) -> dict[str, Any]:
    sessions.consent(rater, body.agree)
    return _step(sessions, rater)


@router.post("/begin")
def begin(sessions: Serving, rater: Asking, body: NothingIn | None = None) -> dict[str, Any]:
    sessions.begin(rater)
    return _step(sessions, rater)


@router.post("/units/{key}/answers")
def answer(key: str, body: AnswersIn, sessions: Serving, rater: Asking) -> dict[str, Any]:
    return sessions.answer(rater, key, body.answers)


@router.post("/units/{key}/chat")
def chat(key: str, body: ChatIn, sessions: Serving, rater: Asking) -> dict[str, Any]:
    return sessions.say(rater, key, body.side, body.number, body.text)


@router.post("/situation")
def situation(body: SituationIn, sessions: Serving, rater: Asking) -> dict[str, Any]:
    sessions.describe(rater, body.emotion, body.text)
    return _step(sessions, rater)


@router.get("/pair")
def pair(sessions: Serving, rater: Asking) -> dict[str, Any]:
    return sessions.pair(rater)


@router.get("/pair/stream")
async def pair_stream(sessions: Serving, rater: Asking, request: Request) -> StreamingResponse:
    def look() -> dict[str, Any]:
        return sessions.pair(rater)

    events = _events(look, request.is_disconnected)
    return StreamingResponse(events, media_type="text/event-stream")


@router.post("/pair/say")
def pair_say(body: LineIn, sessions: Serving, rater: Asking) -> dict[str, Any]:
    return sessions.pair_say(rater, body.text, body.number)


@router.post("/pair/finish")
def pair_finish(body: FinishIn, sessions: Serving, rater: Asking) -> dict[str, Any]:
    return sessions.pair_finish(rater, body.talk)


@router.post("/pair/leave")
def pair_leave(sessions: Serving, rater: Asking, body: NothingIn | None = None) -> dict[str, Any]:
    sessions.pair_leave(rater)
    return _step(sessions, rater)


@router.post("/withdraw")
def withdraw(body: SureIn, sessions: Serving, rater: Asking) -> dict[str, Any]:
    if not body.sure:
        raise HTTPException(422, "Nothing was deleted; say that you are sure.")
    sessions.withdraw(rater)
    return _step(sessions, rater)


def _step(sessions: Sessions, rater: Rater) -> dict[str, Any]:
    """The rater as they stand after what they just did."""
    return sessions.step(sessions.store.again(rater))


async def _events(
    look: Callable[[], dict[str, Any]], is_gone: Callable[[], Awaitable[bool]]
) -> AsyncIterator[str]:
    """A pair whenever it changed, until it is over. The database is asked: another process may have written."""
    sent: dict[str, Any] | None = None
    quiet = 0.0
    while not await is_gone():
        found = await run_in_threadpool(look)
        told = {key: value for key, value in found.items() if key != "waited_seconds"}
        if told != sent:
            sent, quiet = told, 0.0
            yield f"event: pair\ndata: {json.dumps(found)}\n\n"
        elif quiet >= HEARTBEAT:
            quiet = 0.0
            yield ": still here\n\n"
        if found["state"] in ("left", "over"):
            return
        await asyncio.sleep(LOOK_EVERY)
        quiet += LOOK_EVERY
