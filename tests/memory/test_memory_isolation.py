"""Nobody can read, change, infer or erase what belongs to somebody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from allears.conversation import Conversation
from allears.memory import Memory, NotFoundError
from talking import exchange, known, say

ALICE, MALLORY = "alice", "mallory"

ATTEMPTS: dict[str, Callable[[Memory, str, str, str], Any]] = {
    "load": lambda memory, person, talk, _: memory.load(person, talk),
    "append": lambda memory, person, talk, _: memory.append(
        person, talk, exchange(Conversation(talk, ()), "Hi."), after=0
    ),
    "append, a known request": lambda memory, person, talk, _: memory.append(
        person, talk, Conversation(talk, ()), after=0, request="m1"
    ),
    "why": lambda memory, person, talk, _: memory.why(person, talk, 2),
    "undo": lambda memory, person, talk, _: memory.undo(person, talk),
    "delete": lambda memory, person, talk, _: memory.delete_conversation(person, talk),
    "sentences": lambda memory, person, talk, _: memory.sentences(person, conversation=talk),
    "add": lambda memory, person, talk, _: memory.add_sentence(person, "I sing.", conversation=talk),
    "edit there": lambda memory, person, talk, _: memory.edit_persona(person, 1, "Ha.", conversation=talk),
    "forget there": lambda memory, person, talk, _: memory.forget_sentence(person, 1, conversation=talk),
    "edit": lambda memory, person, _, sentence: memory.edit_persona(person, sentence, "Ha."),
    "forget": lambda memory, person, _, sentence: memory.forget_sentence(person, sentence),
}


@pytest.mark.parametrize("mallory_is_known", [False, True])
@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS.keys())
def test_anothers_things_and_nothing_answer_alike(
    memory: Memory, attempt: Callable[..., Any], mallory_is_known: bool
):
    for person in (ALICE, MALLORY)[: 1 + mallory_is_known]:
        memory.set_consent(person, True)
        own = memory.start(person)
    talk = memory.start(ALICE)
    say(
        memory,
        talk,
        "I live in Ghent.",
        "I live in Ghent.",
        person=ALICE,
        why={"kind": "reply"},
        request="m1",
    )
    if mallory_is_known:
        say(memory, own, "I cook.", "I cook.", person=MALLORY)
    (sentence,) = memory.sentences(ALICE)
    before = memory.export(ALICE)
    answers = []
    for place, which in ((talk, sentence.id), ("0" * 16, "0" * 16)):
        with pytest.raises(NotFoundError) as error:
            attempt(memory, MALLORY, place, which)
        answers.append(str(error.value).replace(place, "IT").replace(which, "IT"))
    assert answers[0] == answers[1]
    assert memory.export(ALICE) == before


def test_erasing_and_withdrawing_touch_nobody_else(memory: Memory):
    talks = {}
    for person in (ALICE, MALLORY):
        memory.set_consent(person, True)
        talks[person] = memory.start(person, request="same")
        say(memory, talks[person], f"I am {person}.", "I live in Ghent.", person=person, request="same")
    before = memory.export(ALICE)
    memory.set_consent(MALLORY, False)
    memory.erase(MALLORY)
    assert memory.export(ALICE) == before
    assert memory.export(MALLORY)["conversations"] == []


def test_one_persons_sentences_never_reach_another(memory: Memory):
    for person in (ALICE, MALLORY):
        memory.set_consent(person, True)
    say(memory, memory.start(ALICE), "I live in Ghent.", "I live in Ghent.", person=ALICE)
    assert known(memory.load(MALLORY, memory.start(MALLORY))) == ()


@pytest.mark.parametrize("name", ["", "x" * 10_000, "a\0b", "\ud83d", "' OR 1=1 --", "%", "_"])
def test_no_name_finds_what_is_not_its_own(memory: Memory, name: str):
    talk = memory.start(ALICE)
    say(memory, talk, "Hello.", person=ALICE)
    with pytest.raises(NotFoundError):
        memory.load(ALICE, name)
    assert memory.conversations(name) == []
    own = memory.start(name, request=name)
    assert memory.start(name, request=name) == own
    assert [each.id for each in memory.conversations(name)] == [own]
