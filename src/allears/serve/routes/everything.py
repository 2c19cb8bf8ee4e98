"""Everything about a person at once: as JSON, or gone."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException
from fastapi.responses import JSONResponse

from allears.memory import UnavailableError
from allears.serve.routes import Person, Serving, problems
from allears.serve.shapes import CountsOut, EraseIn

router = APIRouter(prefix="/api", tags=["everything"])


@router.get("/export", responses=problems())
async def export(serving: Serving, person: Person) -> dict[str, Any]:
    """Everything that is stored about you."""
    found = await serving.talk.remember(serving.memory.export, person)
    return JSONResponse(found, headers={"Content-Disposition": 'attachment; filename="allears.json"'})  # type: ignore[return-value]


@router.post("/erase", responses=problems())
async def erase(serving: Serving, person: Person, asked: EraseIn) -> CountsOut:
    """Erase everything about you, for good."""
    try:
        return CountsOut.of(await serving.talk.remember(serving.memory.erase, person))
    except UnavailableError as error:
        raise HTTPException(503, "The database could not be cleaned to the end; erase once more.") from error
