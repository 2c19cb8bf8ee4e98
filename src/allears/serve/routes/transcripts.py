"""One conversation as a file of one's own: Markdown to read, JSON to keep."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from allears.chat.transcript import as_markdown
from allears.serve.routes import ConversationId, Person, Serving, problems

router = APIRouter(prefix="/api/conversations/{conversation}", tags=["conversations"])

_KINDS = {"markdown": ("md", "text/markdown; charset=utf-8"), "json": ("json", "application/json")}


@router.get(
    "/export",
    response_class=Response,
    responses=problems(404)
    | {
        200: {
            "description": "The file.",
            "content": {
                "text/markdown": {"schema": {"type": "string"}},
                "application/json": {"schema": {"type": "object"}},
            },
        }
    },
)
async def export(
    serving: Serving,
    person: Person,
    conversation: ConversationId,
    format: Annotated[Literal["markdown", "json"], Query(examples=["markdown"])] = "markdown",
) -> Response:
    """A conversation with its title, all its turns and what it knows about you; as JSON with all reasons."""
    if format == "json":
        found = await serving.talk.remember(serving.memory.export_conversation, person, conversation)
        text = json.dumps(found, ensure_ascii=False, indent=2) + "\n"
    else:
        whole = await serving.talk.remember(serving.memory.load, person, conversation)
        choices = await serving.talk.remember(serving.memory.choices, person, conversation)
        text = as_markdown(whole, title=choices.title)
    ending, kind = _KINDS[format]
    name = f'attachment; filename="allears-{conversation}.{ending}"'
    content = text.encode("utf-8", "replace")  # half a sign, as cut JSON brings it, is no text to a file
    return Response(content, media_type=kind, headers={"Content-Disposition": name})
