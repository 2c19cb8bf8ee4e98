"""What people change about themselves with their own hands: it holds everywhere, at once, against what was learned."""

from __future__ import annotations

from allears.conversation import PersonaSentence
from allears.errors import AllearsError
from allears.memory.errors import NotFoundError
from allears.memory.likeness import alike
from allears.memory.sentences import Known, Sentences
from allears.personas.contradiction import contradiction
from allears.personas.memory import EDITED


def find(known: list[Known], which: int | str) -> Known:
    """A sentence by its number in a list (from 1) or by its id."""
    wanted = str(which)
    for number, each in enumerate(known, 1):
        if wanted in (str(number), each.id):
            return each
    raise NotFoundError(f"there is no sentence {wanted!r}")


def edit(about: Sentences, known: Known, text: str) -> None:
    """Say it in the person's own words."""
    wording = _checked(text)
    revision = about.next_revision()
    if wording != known.text or not known.edited:
        about.reword(known, wording, revision)
    others = [each for each in _in_reach(about, known) if each.key != known.key]
    for other in others:
        reason = _outdated(other, known.text, wording)
        if reason is not None:
            _give_way(about, other, known, reason, revision)


def add(about: Sentences, text: str, *, conversation: int | None, remembered: bool) -> str:
    """Something the person wants to be known. The sentence's id."""
    wording = _checked(text)
    reach = {each.key: each for each in about.of(conversation)} if conversation is not None else {}
    if remembered:
        reach |= {each.key: each for each in about.remembered()}
    same = next((each for each in reach.values() if alike(each.text, wording)), None)
    if same is not None:
        edit(about, same, wording)
    else:
        revision = about.next_revision()
        same = about.insert(
            PersonaSentence(wording, EDITED),
            conversation=conversation,
            remembered=remembered,
            revision=revision,
        )
        for other in reach.values():
            reason = contradiction(other.text, wording)
            if reason is not None:
                _give_way(about, other, same, reason, revision)
    if conversation is not None:
        about.link(conversation, same.key, len(about.of(conversation)), about.revision())
    return same.id


def forget(about: Sentences, known: Known) -> None:
    """No trace of it, nor of what says the same elsewhere, nor of what they said before it."""
    about.next_revision()
    about.drop(key for key, text in about.wordings() if alike(text, known.text))


def _checked(text: str) -> str:
    wording = text.strip()
    if not wording:
        raise AllearsError("a sentence needs words; to remove it, forget it")
    return wording


def _in_reach(about: Sentences, known: Known) -> list[Known]:
    """What a sentence may take the place of: without consent, only what its own conversations know."""
    if about.agreed():
        return about.all()
    return [each for place in sorted(about.conversations_of(known.key)) for each in about.of(place)]


def _outdated(other: Known, before: str, now: str) -> str | None:
    if alike(other.text, before) or alike(other.text, now):
        return EDITED
    return contradiction(other.text, now)


def _give_way(about: Sentences, old: Known, new: Known, reason: str, revision: int) -> None:
    """Wherever the old sentence was known, the new one is."""
    about.replace(old, new.key, reason)
    for conversation in about.conversations_of(old.key):
        about.link(conversation, new.key, len(about.of(conversation)), revision)
    if old.remembered:
        about.change([new.key], remembered=True)
