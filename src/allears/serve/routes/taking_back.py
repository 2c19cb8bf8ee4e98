"""Second thoughts: a message that is taken back, a reply that is stopped."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException

from allears.memory import NothingToUndoError
from allears.serve.routes import ConversationId, Person, Serving, problems
from allears.serve.routes.conversations import shown
from allears.serve.shapes import BackIn, ConversationOut, StopIn, StopOut

router = APIRouter(prefix="/api/conversations/{conversation}", tags=["messages"])


@router.post("/undo", responses=problems(404, 409))
async def undo(
    serving: Serving, person: Person, conversation: ConversationId, back: BackIn | None = None
) -> ConversationOut:
    """Take back your last message, or an earlier one, and all that came after it; what is left then."""
    turn = back.turn if back is not None else None
    async with serving.talk.alone(person, conversation):
        try:
            await serving.talk.remember(serving.memory.undo, person, conversation, turn)
        except NothingToUndoError as error:
            what = "nothing has been said yet" if turn is None else f"turn {turn} is no message of yours"
            raise HTTPException(409, f"There is nothing to undo: {what}.") from error
        return await shown(serving, person, conversation)


@router.post("/stop", responses=problems(404))
async def stop(
    serving: Serving, person: Person, conversation: ConversationId, asked: StopIn | None = None
) -> StopOut:
    """Stop a reply. With the message's key it is as if nothing had been said, also if the reply was just stored."""
    key = asked.key if asked is not None else None
    return StopOut(stopped=await serving.talk.hush(person, conversation, key))
