"""Beginning, listing, reading, undoing and deleting conversations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path

from allears.errors import AllearsError
from allears.memory import ConflictError, NotFoundError, UnavailableError
from allears.serve.routes import ConversationId, Person, RequestKey, Serving, problems
from allears.serve.shapes import ConversationOut, CountsOut, SummariesOut, SummaryOut, WhyOut

router = APIRouter(prefix="/api/conversations", tags=["conversations"])


@router.post("", status_code=201, responses=problems())
async def start(serving: Serving, person: Person, key: RequestKey = None) -> ConversationOut:
    """Begin a conversation. It knows what is remembered about you, if you agreed to that."""
    name = await serving.talk.remember(serving.memory.start, person, request=key)
    return ConversationOut.of(await serving.talk.remember(serving.memory.load, person, name))


@router.get("", responses=problems())
async def conversations(serving: Serving, person: Person) -> SummariesOut:
    """All your conversations, the latest first."""
    found = await serving.talk.remember(serving.memory.conversations, person)
    return SummariesOut(conversations=[SummaryOut.of(summary) for summary in found])


@router.get("/{conversation}", responses=problems(404))
async def conversation(serving: Serving, person: Person, conversation: ConversationId) -> ConversationOut:
    """A conversation with all its turns."""
    return ConversationOut.of(await serving.talk.remember(serving.memory.load, person, conversation))


@router.delete("/{conversation}", responses=problems(404))
async def delete(serving: Serving, person: Person, conversation: ConversationId) -> CountsOut:
    """Delete a conversation and what it told about you."""
    async with serving.talk.alone(person, conversation):
        return CountsOut.of(
            await serving.talk.remember(serving.memory.delete_conversation, person, conversation)
        )


@router.post("/{conversation}/undo", responses=problems(404, 409))
async def undo(serving: Serving, person: Person, conversation: ConversationId) -> ConversationOut:
    """Take back your last message and what came after it; the conversation as it is then."""
    async with serving.talk.alone(person, conversation):
        try:
            after = await serving.talk.remember(serving.memory.undo, person, conversation)
        except (NotFoundError, ConflictError, UnavailableError):
            raise
        except AllearsError as error:
            raise HTTPException(409, "There is nothing to undo: nothing has been said yet.") from error
    return ConversationOut.of(after)


@router.get("/{conversation}/turns/{turn}/why", responses=problems(404))
async def why(
    serving: Serving,
    person: Person,
    conversation: ConversationId,
    turn: Annotated[int, Path(ge=1, le=2**31 - 1, description="The turn's number, from 1.", examples=[2])],
) -> WhyOut:
    """Why a reply was given."""
    found = await serving.talk.remember(serving.memory.why, person, conversation, turn)
    if found is None:
        raise HTTPException(404, "There are no reasons stored for such a turn.")
    return WhyOut(conversation=conversation, turn=turn, why=found)
