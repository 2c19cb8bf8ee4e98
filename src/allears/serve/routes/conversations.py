"""Beginning, finding, reading, naming and deleting conversations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from allears.serve.routes import ConversationId, Person, RequestKey, Serving, problems
from allears.serve.services import Services
from allears.serve.shapes import ChoicesIn, ConversationOut, CountsOut, SummariesOut, SummaryOut

router = APIRouter(prefix="/api/conversations", tags=["conversations"])

LONGEST_SEARCH = 200


@router.post("", status_code=201, responses=problems())
async def start(
    serving: Serving, person: Person, choices: ChoicesIn | None = None, key: RequestKey = None
) -> ConversationOut:
    """Begin a conversation. It knows what is remembered about you, if you agreed to that."""
    changes = _checked(serving, choices)
    name = await serving.talk.remember(serving.memory.start, person, request=key)
    if changes:
        await serving.talk.remember(serving.memory.choose, person, name, changes)
    return await shown(serving, person, name)


@router.get("", responses=problems())
async def conversations(
    serving: Serving,
    person: Person,
    search: Annotated[
        str,
        Query(max_length=LONGEST_SEARCH, description="Only those with all these words.", examples=["sister"]),
    ] = "",
) -> SummariesOut:
    """Your conversations, the latest first."""
    found = await serving.talk.remember(serving.memory.conversations, person, search)
    return SummariesOut(conversations=[SummaryOut.of(summary) for summary in found])


@router.get("/{conversation}", responses=problems(404))
async def conversation(serving: Serving, person: Person, conversation: ConversationId) -> ConversationOut:
    """A conversation with all its turns."""
    return await shown(serving, person, conversation)


@router.patch("/{conversation}", responses=problems(404))
async def change(
    serving: Serving, person: Person, conversation: ConversationId, choices: ChoicesIn
) -> ConversationOut:
    """Give a conversation a title, choose who answers, with which persona, and whose help lines to name."""
    changes = _checked(serving, choices)
    if changes:
        await serving.talk.remember(serving.memory.choose, person, conversation, changes)
    return await shown(serving, person, conversation)


@router.delete("/{conversation}", responses=problems(404))
async def delete(serving: Serving, person: Person, conversation: ConversationId) -> CountsOut:
    """Delete a conversation and what it told about you."""
    async with serving.talk.alone(person, conversation):
        return CountsOut.of(
            await serving.talk.remember(serving.memory.delete_conversation, person, conversation)
        )


async def shown(serving: Services, person: str, conversation: str) -> ConversationOut:
    """A conversation as it stands, with what was chosen for it."""
    found = await serving.talk.remember(serving.memory.load, person, conversation)
    choices = await serving.talk.remember(serving.memory.choices, person, conversation)
    return ConversationOut.of(found, title=choices.title, voice=serving.voices.chosen(choices.voice).name)


def _checked(serving: Services, choices: ChoicesIn | None) -> dict[str, object]:
    changes = {} if choices is None else choices.changes()
    voice = changes.get("voice")
    if voice is not None:
        serving.voices.check(voice)
    return changes
