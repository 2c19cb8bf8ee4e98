"""Why: the reasons of one reply, of all of them at a glance, and which words matched."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path, Query
from pydantic import BaseModel, Field

from allears.conversation import PersonaSentence
from allears.labels import ED_EMOTIONS
from allears.listener.matching import Matched, MatchedWord
from allears.serve.errors import NO_REASONS
from allears.serve.routes import ConversationId, Person, Serving, problems
from allears.serve.services import Services
from allears.serve.shapes import LARGEST_TURN, WhyOut

router = APIRouter(prefix="/api/conversations/{conversation}", tags=["reasons"])

MOST_REPLIES = 1000
TurnNumber = Annotated[
    int, Path(ge=1, le=LARGEST_TURN, description="The turn's number, from 1.", examples=[2])
]


class ReplyReasons(BaseModel):
    turn: int = Field(examples=[2])
    kind: str = Field(examples=["reply"])
    shares: list[float] = Field(description="Of each emotion, in their order; empty where none was read.")
    strategy: str = Field(examples=["Question"])
    danger: str | None = None
    voice: str
    milliseconds: float = Field(description="All steps together.")


class ReasonsOut(BaseModel):
    conversation: str
    emotions: list[str] = Field(description="The 32 emotions, in the order of the shares.")
    replies: list[ReplyReasons] = Field(description="The oldest first.")


class WordOut(BaseModel):
    start: int = Field(description="The first character, counted as JavaScript does (UTF-16).")
    end: int = Field(description="The one after the last.")
    weight: float = Field(description="0 to 1: how strongly it matched anything.")


class TextOut(BaseModel):
    text: str
    words: list[WordOut]


class SideOut(TextOut):
    of: Literal["message", "persona", "listener"]
    source: str = Field(description="Where it was said.", examples=["turn 1"])
    links: list[tuple[int, int, float]] = Field(
        description="The reply's word, this text's word (both from 0), and how strongly they match."
    )


class WordsOut(BaseModel):
    conversation: str
    turn: int
    reply: TextOut
    others: list[SideOut]

    @classmethod
    def of(cls, conversation: str, turn: int, found: Matched) -> WordsOut:
        return cls(
            conversation=conversation,
            turn=turn,
            reply=TextOut(text=found.text, words=_words(found.text, found.words)),
            others=[
                SideOut.model_validate(
                    {
                        "of": side.of,
                        "text": side.text,
                        "source": side.source if side.of != "message" else f"turn {turn - 1}",
                        "words": _words(side.text, side.words),
                        "links": side.links,
                    }
                )
                for side in found.others
            ],
        )


@router.get("/turns/{turn}/why", responses=problems(404))
async def why(serving: Serving, person: Person, conversation: ConversationId, turn: TurnNumber) -> WhyOut:
    """Why a reply was given."""
    found = await _why(serving, person, conversation, turn)
    return WhyOut(conversation=conversation, turn=turn, why=found)


@router.get("/reasons", responses=problems(404))
async def reasons(
    serving: Serving,
    person: Person,
    conversation: ConversationId,
    last: Annotated[int, Query(ge=1, le=MOST_REPLIES, description="How many replies at most.")] = 200,
) -> ReasonsOut:
    """What was felt and tried over the whole conversation, for a chart."""
    found = await serving.talk.remember(serving.memory.reasons, person, conversation, last=last)
    return ReasonsOut(
        conversation=conversation,
        emotions=list(ED_EMOTIONS),
        replies=[_in_short(turn, each) for turn, each in found.items()],
    )


@router.get("/turns/{turn}/words", responses=problems(404, 409))
async def words(serving: Serving, person: Person, conversation: ConversationId, turn: TurnNumber) -> WordsOut:
    """Which words of a reply go with which of your message, of what is known about you, and of its own persona."""
    found = await _why(serving, person, conversation, turn)
    whole = await serving.talk.remember(serving.memory.load, person, conversation)
    voice = serving.voices.chosen(found.get("voice"))
    if found.get("kind") != "reply" or not 2 <= turn <= len(whole.turns):
        raise HTTPException(409, "This turn was not weighed word by word: its text was written beforehand.")
    if not voice.shows_words:
        raise HTTPException(409, "This voice does not say which words matched.")
    matched = await asyncio.to_thread(
        voice.matched_words,
        whole.turns[turn - 2].text,
        whole.turns[turn - 1].text,
        [PersonaSentence(each["text"], each.get("source", "")) for each in found.get("persona", ())],
        [each["text"] for each in found.get("listener_persona", ())],
    )
    return WordsOut.of(conversation, turn, matched)


async def _why(serving: Services, person: str, conversation: str, turn: int) -> dict[str, Any]:
    found = await serving.talk.remember(serving.memory.why, person, conversation, turn)
    if found is None:
        raise HTTPException(404, NO_REASONS)
    return found


def _in_short(turn: int, why: Mapping[str, Any]) -> ReplyReasons:
    """A reply in a chart. What an older allears did not store is left empty."""
    shares = dict(why.get("emotions", ()))
    return ReplyReasons(
        turn=turn,
        kind=why.get("kind", ""),
        shares=[round(shares.get(name, 0.0), 4) for name in ED_EMOTIONS] if shares else [],
        strategy=why.get("strategy", ""),
        danger=why.get("screening", {}).get("danger"),
        voice=why.get("voice", ""),
        milliseconds=round(sum(why.get("milliseconds", {}).values()), 1),
    )


def _words(text: str, words: Sequence[MatchedWord]) -> list[WordOut]:
    """Places in a text as a browser counts them: signs beyond the first 65,536 count twice."""
    return [
        WordOut(start=_utf16(text[: word.start]), end=_utf16(text[: word.end]), weight=word.weight)
        for word in words
    ]


def _utf16(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)
