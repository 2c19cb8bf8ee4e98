"""The application: everything a server needs, put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from allears import __version__
from allears.errors import AllearsError
from allears.listener.contract import Responder
from allears.memory import Memory
from allears.safety.screen import CrisisScreen
from allears.serve import openai
from allears.serve.auth import Door, security_scheme
from allears.serve.batching import BusyError
from allears.serve.errors import tell_bad_request, tell_problem
from allears.serve.gate import Gate
from allears.serve.limits import RateLimit
from allears.serve.metrics import Metrics
from allears.serve.pages import Pages
from allears.serve.routes import (
    about,
    compare,
    conversations,
    everything,
    messages,
    operations,
    persona,
    reasons,
    socket,
    taking_back,
    transcripts,
)
from allears.serve.services import Services
from allears.serve.settings import ServerSettings
from allears.serve.talk import TalkService
from allears.serve.voices import DEFAULT, ServedVoice, Voices

_DESCRIPTION = """Conversation that understands how a person feels, remembers who they are and answers with care.

This is no therapist and no crisis line. Every message passes a crisis screen, which nothing here switches off."""
_PUBLIC = ("/api/health", "/api/help", "/api/metrics")
_ROUTES = (
    conversations,
    transcripts,
    messages,
    taking_back,
    socket,
    reasons,
    compare,
    persona,
    everything,
    about,
    operations,
    openai,
)


def create_app(
    responder: Responder | Sequence[ServedVoice], memory: Memory, settings: ServerSettings | None = None
) -> FastAPI:
    """A server that answers with `responder` and stores in `memory`. Whoever made those closes them.

    Instead of one responder there may be several voices to choose from; the first is the default.
    """
    settings = settings or ServerSettings()
    voices = responder if isinstance(responder, Sequence) else (ServedVoice(DEFAULT, responder),)
    services = _services(voices, memory, settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await services.voices.start()
        yield
        await services.voices.stop()
        await services.talk.stop()

    app = FastAPI(
        title="allears",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # its page would fetch scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
        },  # whole addresses, errors with their words
    )
    app.state.services = services
    for module in _ROUTES:
        app.include_router(module.router)
    for kind in (HTTPException, AllearsError, BusyError):
        app.add_exception_handler(kind, tell_problem)
    app.add_exception_handler(RequestValidationError, tell_bad_request)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key"],
            expose_headers=["Retry-After"],
        )
    app.add_middleware(Pages)
    app.add_middleware(
        Gate,
        door=services.door,
        limit=services.limit,
        metrics=services.metrics,
        body_bytes=settings.body_bytes,
    )
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def _services(choice: Sequence[ServedVoice], memory: Memory, settings: ServerSettings) -> Services:
    metrics = Metrics()
    voices = Voices(choice, settings, metrics)
    return Services(
        settings=settings,
        memory=memory,
        metrics=metrics,
        door=Door(settings),
        limit=RateLimit(settings.rate, settings.burst),
        voices=voices,
        talk=TalkService(memory, voices, metrics),
        sockets=Counter(),
        screen=getattr(voices.default.responder, "screen", None) or CrisisScreen.from_bundle(),
    )


def _described(app: FastAPI) -> dict[str, Any]:
    """FastAPI's OpenAPI description, with the token in it."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schema["components"]["securitySchemes"] = {"token": security_scheme()}
        for path, methods in schema["paths"].items():
            for operation in methods.values():
                if path not in _PUBLIC:
                    operation["security"] = [{}, {"token": []}]  # {}: a server without tokens asks for none
        app.openapi_schema = schema
    return app.openapi_schema
