"""What a voice wrote that does not fit the moment is refused; what does fit is let through."""

from __future__ import annotations

from typing import Any

import pytest

from allears.conversation import Persona, PersonaSentence, Role, Turn
from allears.listener.contract import Request
from allears.listener.unfit import against_the_mood, greets, unfit, without_greeting

GLAD, SAD, TORN = (
    (("joyful", 0.9), ("sad", 0.1)),
    (("sad", 0.9), ("joyful", 0.1)),
    (("sad", 0.5), ("joyful", 0.5)),
)


def said(*texts: str, persona: tuple[str, ...] = (), **changes: Any) -> Request:
    """A talk that the person began and in which they spoke last."""
    turns = tuple(
        Turn(Role.SUPPORTER if place % 2 else Role.SEEKER, text) for place, text in enumerate(texts)
    )
    known = Persona(tuple(PersonaSentence(text) for text in persona))
    given: dict[str, Any] = {"emotions": (), "stage": "exploration"} | changes
    return Request(turns, known, given["emotions"], (), given["stage"], 0)


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("Hi! How did that make you feel?", "How did that make you feel?"),
        ("Hello there, what did he say?", "What did he say?"),
        ("what did he say?", "What did he say?"),
        ("Hi, how are you doing today?", ""),
        ("How are you?", ""),
        ("How are you coping without him?", "How are you coping without him?"),
        ("History repeats itself, it seems.", "History repeats itself, it seems."),
    ],
)
def test_a_greeting_is_left_out_once_the_talk_has_begun(written: str, left: str):
    assert without_greeting(written, said("My oven exploded.")) == left


def test_who_says_hello_is_greeted():
    assert without_greeting("Hello! How are you?", said("hello", stage="opening")) == "Hello! How are you?"
    assert without_greeting("Hi, how are you?", said("Hi, anybody home?")) == "Hi, how are you?"


def test_a_greeting_is_known_by_its_first_words():
    assert greets("Good evening, what brings you here?")
    assert greets("How are you today?")
    assert not greets("Hills are hard to climb.")


def test_neither_joy_for_the_sad_nor_comfort_for_the_glad():
    assert against_the_mood("That is a great plan.", said("x", emotions=SAD))
    assert against_the_mood("I am so sorry to hear that.", said("x", emotions=GLAD))
    assert not against_the_mood("I am so sorry to hear that.", said("x", emotions=SAD))
    assert not against_the_mood("How exciting, that is great!", said("x", emotions=GLAD))


def test_where_the_mood_is_not_clear_nothing_is_against_it():
    for emotions in (TORN, ()):
        assert not against_the_mood("I am so sorry to hear that.", said("x", emotions=emotions))
        assert not against_the_mood("That is a great plan.", said("x", emotions=emotions))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("I have three goats too.", "a life of its own"),
        ("I am thirty, so I see.", "a life of its own"),
        ("I work from a barn.", "a life of its own"),
        ("I hate rainy Sundays.", "a life of its own"),
        ("I do not have a kettle.", "a life of its own"),
        ("It is sad when that happens to me.", "a life of its own"),
        ("How long have you been together?", "a couple"),
        ("How is your husband?", "nobody spoke of"),
        ("What is the goat?", "asks what a thing is"),
        ("How old is she?", "asks for what was told"),
        ("How many goats are there?", "asks for what was told"),
        ("What do you mean?", "asks nothing"),
        ("What is your name?", "as for a form"),
        ("That is a terrible thing to do.", "blame"),
        ("How is she?", "said before"),
        ("I am sorry to hear that. I am so happy about it!", "sorry and glad"),
        ("I am sure she will recover.", "promises"),
        ("Beekeeper. You have a lot to do.", "says over what is known"),
    ],
)
def test_what_misses_the_point_is_refused_with_its_reason(reply: str, reason: str):
    talk = said(
        "My goat fell off the wall.",
        "Oh no. How is she?",
        "Limping. She is nine.",
        persona=("I am a beekeeper.",),
    )
    assert reason in unfit(reply, "Question", talk)


@pytest.mark.parametrize(
    "reply",
    [
        "That must have given you a fright.",
        "I am so sorry. How is she walking now?",
        "I hope the leg heals well.",
        "I can imagine how you felt when she fell.",
        "Did a doctor look at her?",
        "How did she get up there?",
    ],
)
def test_what_takes_up_the_talk_is_let_through(reply: str):
    talk = said("My goat fell off the wall.", "Oh no. How is she?", "Limping. She is nine.", emotions=SAD)
    assert unfit(reply, "Question", talk) == ""


def test_a_suggestion_may_bring_up_what_nobody_spoke_of():
    talk = said("I can't sleep.")
    assert "nobody spoke of" in unfit("You could read a book.", "Question", talk)
    assert unfit("You could read a book.", "Providing Suggestions", talk) == ""


def test_nobody_is_asked_how_it_was_before_it_came():
    assert "before it came" in unfit("Nice, how was that?", "Question", said("The regatta is tomorrow."))
    assert unfit("Nice, how was that?", "Question", said("The regatta was yesterday.")) == ""


def test_a_couple_that_is_none_any_more_is_not_asked_how_long_it_has_been_one():
    assert unfit("How long have you been together?", "Question", said("My girlfriend is shy.")) == ""
    assert unfit("How long have you been together?", "Question", said("My girlfriend died."))
