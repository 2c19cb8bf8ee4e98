"""For those who run the server: is it well, and how is it doing?"""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import PlainTextResponse

from allears import __version__
from allears.serve.metrics import CONTENT_TYPE
from allears.serve.routes import Serving, problems
from allears.serve.shapes import HealthOut

router = APIRouter(prefix="/api", tags=["operations"])


@router.get("/health", responses={503: problems()[503]})
async def health(serving: Serving) -> HealthOut:
    """Whether the server and its database answer."""
    await serving.talk.remember(serving.memory.consent, "nobody")
    needs_token = bool(serving.settings.tokens)
    return HealthOut(status="ok", version=__version__, needs_token=needs_token)


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={401: problems()[401], 200: {"description": "Counts and times for Prometheus."}},
)
async def metrics(serving: Serving, request: Request) -> Response:
    """Counts and times over all people; on a server with access tokens they need a token of their own."""
    if not serving.door.may_measure(request.headers):
        raise HTTPException(
            401, "Metrics need the token of --metrics-token.", headers={"WWW-Authenticate": "Bearer"}
        )
    return Response(serving.metrics.text(), media_type=CONTENT_TYPE)
