"""Which stage a conversation has reached, and what is wanted there."""

from __future__ import annotations

import pytest

from allears.conversation import Role, Turn
from allears.labels import STRATEGIES
from allears.listener.stages import positive, stage, strategies

SAD = (("sad", 0.8), ("lonely", 0.2))
GLAD = (("joyful", 0.9), ("proud", 0.1))
TOLD = "My best friend has not called me for weeks"


def talk(*spoken: str, answer: str = "I see.") -> tuple[Turn, ...]:
    turns: list[Turn] = []
    for text in spoken:
        turns += [Turn(Role.SEEKER, text), Turn(Role.SUPPORTER, answer)]
    return tuple(turns[:-1])


@pytest.mark.parametrize(
    "message", ["hi", "Hello there!", "hey, how are you?", "Good evening", "is anybody there"]
)
def test_a_greeting_opens(message):
    assert stage(talk(message), SAD) == "opening"


@pytest.mark.parametrize("message", ["hi, my dog died", "hello darkness my old friend of many years"])
def test_a_greeting_with_a_story_is_no_opening(message):
    assert stage(talk(message), SAD) == "exploration"


@pytest.mark.parametrize(
    "message", ["thanks, that helped", "ok thank you", "I have to go now, bye", "good night"]
)
def test_thanks_and_farewells_end(message):
    assert stage(talk(TOLD, message), SAD) == "ending"


def test_a_first_message_never_ends_the_talk():
    assert stage(talk("I am leaving my husband, goodbye to all that"), SAD) == "exploration"


def test_people_are_heard_before_they_are_advised():
    reached = [stage(talk(*[TOLD] * count), SAD) for count in range(1, 7)]
    assert reached == ["exploration"] * 2 + ["comforting"] * 2 + ["action"] * 2


def test_short_answers_do_not_bring_advice_nearer():
    assert stage(talk(TOLD, "yes", "ok", "I don't know", "no"), SAD) == "exploration"


def test_joy_wants_company_and_no_plan():
    assert stage(talk(*[TOLD] * 8), GLAD) == "comforting"
    assert positive(GLAD) == 1
    assert positive(SAD) == 0
    assert positive(()) == 0.5


def test_strategies_are_a_distribution_over_all_eight():
    found = strategies((("Question", 1.0),), "exploration", talk(TOLD))
    assert {name for name, _ in found} == set(STRATEGIES)
    assert sum(chance for _, chance in found) == pytest.approx(1)
    assert [chance for _, chance in found] == sorted((chance for _, chance in found), reverse=True)


def test_suggestions_wait_for_their_stage():
    def worth(at: str) -> float:
        return dict(strategies((), at, talk(TOLD)))["Providing Suggestions"]

    assert worth("opening") < worth("exploration") < worth("comforting") < worth("action")


def test_the_reader_has_its_say():
    asked = dict(strategies((("Information", 0.9),), "action", talk(TOLD)))
    assert asked["Information"] > dict(strategies((), "action", talk(TOLD)))["Information"]


def test_questions_in_a_row_become_unlikely():
    after_none = dict(strategies((), "exploration", talk(TOLD)))["Question"]
    after_two = dict(strategies((), "exploration", talk(TOLD, TOLD, TOLD, answer="And then?")))["Question"]
    assert after_two < after_none / 2
