"""What is known about a person, and whether it is remembered: seen, added to, edited and forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Response

from allears.memory import NotFoundError, StoredSentence
from allears.serve.errors import NO_CONVERSATION, NO_SENTENCE
from allears.serve.routes import Person, SentenceId, Serving, checked_name, problems
from allears.serve.services import Services
from allears.serve.shapes import Consent, ConsentOut, SentenceIn, SentenceOut, SentencesOut

router = APIRouter(prefix="/api", tags=["persona"])

OnlyIn = Annotated[
    str | None,
    Query(description="A conversation's id: only what that one knows.", examples=["3f8a1c0d9b7e2465"]),
]


@router.get("/persona", responses=problems(404))
async def persona(serving: Serving, person: Person, conversation: OnlyIn = None) -> SentencesOut:
    """Every sentence about you, where it came from and what it said before."""
    place = _place(conversation)
    found = await serving.talk.remember(serving.memory.sentences, person, conversation=place)
    return SentencesOut(sentences=[SentenceOut.of(sentence) for sentence in found])


@router.post("/persona", status_code=201, responses=problems(404, 409))
async def add(
    serving: Serving, person: Person, sentence: SentenceIn, conversation: OnlyIn = None
) -> SentenceOut:
    """Add a sentence: to one conversation, and to all later ones if you agreed to be remembered."""
    place = _place(conversation)
    if place is None and not await serving.talk.remember(serving.memory.consent, person):
        raise HTTPException(
            409, "Nothing is remembered across conversations before you agree: PUT /api/consent."
        )
    name = await serving.talk.remember(serving.memory.add_sentence, person, sentence.text, conversation=place)
    return SentenceOut.of(await _sentence(serving, person, name))


@router.put("/persona/{sentence}", responses=problems(404))
async def edit(serving: Serving, person: Person, sentence: SentenceId, words: SentenceIn) -> SentenceOut:
    """Say it in your own words. Nothing that is learned later overwrites them."""
    with _or_not_there():
        await serving.talk.remember(serving.memory.edit_persona, person, sentence, words.text)
    return SentenceOut.of(await _sentence(serving, person, sentence))


@router.delete("/persona/{sentence}", status_code=204, response_class=Response, responses=problems(404))
async def forget(serving: Serving, person: Person, sentence: SentenceId) -> None:
    """Forget a sentence, in every conversation."""
    with _or_not_there():
        await serving.talk.remember(serving.memory.forget_sentence, person, sentence)


@router.get("/consent", responses=problems())
async def consent(serving: Serving, person: Person) -> ConsentOut:
    """Whether you agreed to be remembered across conversations, and whether you were asked."""
    agreed = await serving.talk.remember(serving.memory.consent, person)
    return ConsentOut(agreed=agreed, asked=await serving.talk.remember(serving.memory.asked, person))


@router.put("/consent", responses=problems())
async def set_consent(serving: Serving, person: Person, consent: Consent) -> ConsentOut:
    """Agree, or withdraw."""
    await serving.talk.remember(serving.memory.set_consent, person, consent.agreed)
    return ConsentOut(agreed=consent.agreed, asked=True)


@contextmanager
def _or_not_there() -> Iterator[None]:
    try:
        yield
    except NotFoundError as error:
        raise HTTPException(404, NO_SENTENCE) from error


def _place(conversation: str | None) -> str | None:
    return None if conversation is None else checked_name(conversation, NO_CONVERSATION)


async def _sentence(serving: Services, person: str, name: str) -> StoredSentence:
    found = await serving.talk.remember(serving.memory.sentences, person)
    for sentence in found:
        if sentence.id == name:
            return sentence
    raise HTTPException(404, NO_SENTENCE)  # forgotten in this very moment
