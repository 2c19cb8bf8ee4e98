"""What a person asks of the memory in plain words."""

from __future__ import annotations

import pytest

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.listener.requests import NOTHING_KNOWN, NOTHING_NOTED, answer, asked

TALK = Conversation(
    id="one",
    turns=(
        Turn(Role.SEEKER, "I have a cat."), Turn(Role.SUPPORTER, "Nice."),
        Turn(Role.SEEKER, "I bake."), Turn(Role.SUPPORTER, "Oh."),
    ),
    personas={"seeker": Persona((PersonaSentence("I have a cat.", "turn 1"), PersonaSentence("I bake.", "turn 3")))},
)  # fmt: skip


@pytest.mark.parametrize(
    ("message", "request_"),
    [
        ("forget that", "forget"),
        ("Please forget what I just said.", "forget"),
        ("can you forget it please?", "forget"),
        ("Forget everything about me", "forget everything"),
        ("forget everything", "forget everything"),
        ("delete all you know about me", "forget everything"),
        ("What do you know about me?", "what is known"),
        ("do you remember me", "what is known"),
        ("I can't forget that day", ""),
        ("Forget that job, I hated it", ""),
        ("I want to forget everything that happened", ""),
        ("you know what? forget it happened, I said", ""),
    ],
)
def test_only_a_request_is_one(message, request_):
    assert asked(message) == request_


def test_forget_that_takes_the_last_turns_notes_only():
    said, after, gone = answer("forget", TALK)
    assert [sentence.text for sentence in gone] == ["I bake."]
    assert after.personas["seeker"].texts == ("I have a cat.",)
    assert "Forgotten" in said


def test_forget_everything_takes_all_of_them():
    said, after, gone = answer("forget everything", TALK)
    assert after.personas["seeker"] == Persona()
    assert len(gone) == 2
    assert "All 2 notes" in said


def test_nothing_noted_is_said_plainly():
    assert answer("forget", Conversation(id="", turns=()))[0] == NOTHING_NOTED
    assert answer("what is known", Conversation(id="", turns=()))[0] == NOTHING_KNOWN


def test_what_is_known_is_listed():
    said, after, gone = answer("what is known", TALK)
    assert "- I have a cat.\n- I bake." in said
    assert after is TALK
    assert not gone
