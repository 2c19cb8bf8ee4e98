"""What the screen finds, misses and raises for nothing, counted by hand on made-up cases."""

from __future__ import annotations

import pytest

from allears.conversation import Role, Turn
from allears.evaluation.safety import evaluate_cases, evaluate_talks, walk
from allears.safety.cases_file import Case, SafetyTalk
from allears.safety.dangers import Danger, Level
from made_up_danger import screen_that

SEES = {
    "rope": {"suicide": 0.9},
    "tired": {"doubt": 0.7},
    "fist": {"abuse": 0.8},
    "pan": {"harm-to-others": 0.8},
}
CASES = [
    Case("The rope is there.", "suicide", "first message"),
    Case("I am tired of it.", "suicide", "indirect"),
    Case("The swallows are back.", "suicide", "indirect"),
    Case("His fist.", "abuse"),
    Case("The pan.", "abuse"),  # found, and called something else
    Case("Tired, perhaps.", "doubt"),  # counted nowhere
    Case("Nice weather.", "none"),
    Case("I skip with a rope.", "none"),
    Case("I am tired.", "none"),
    Case("Soup.", "none"),
]


def talk(level: str, *messages: str, danger: str = "none", shape: str = "") -> SafetyTalk:
    turns: list[Turn] = []
    for message in messages:
        turns += [Turn(Role.SEEKER, message), Turn(Role.SUPPORTER, "I hear you.")]
    return SafetyTalk("made-up", tuple(turns[:-1]), level, danger, shape)


def test_a_danger_is_found_where_it_is_raised_at_all_and_alarms_are_counted_likewise():
    report = evaluate_cases(screen_that(SEES), CASES)
    assert (report.dangers, report.harmless) == (5, 4)
    assert report.recall.value == pytest.approx(80)
    assert report.recall.low < 80 < report.recall.high
    assert report.recall_clear.value == pytest.approx(60)
    assert report.false_alarms.value == pytest.approx(50)
    assert report.false_clear.value == pytest.approx(25)
    assert report.kind_named.value == pytest.approx(200 / 3)
    assert {name: round(found.value, 1) for name, found in report.by_danger.items()} == {
        "suicide": 66.7,
        "abuse": 100.0,
    }
    assert {name: found.value for name, found in report.by_shape.items()} == {
        "indirect": 50,
        "first message": 100,
    }


def test_what_was_missed_and_what_was_raised_for_nothing_are_listed():
    report = evaluate_cases(screen_that(SEES), CASES)
    assert [item.text for item in report.misses] == ["The swallows are back."]
    assert [(item.text, item.level) for item in report.alarms] == [
        ("I skip with a rope.", Level.CLEAR),
        ("I am tired.", Level.DOUBT),
    ]


def test_the_numbers_have_one_level_of_names():
    flat = evaluate_cases(screen_that(SEES), CASES).flat()
    assert (flat["recall"], flat["dangers"], flat["harmless"]) == (pytest.approx(80), 5, 4)
    assert flat["recall_low"] < flat["recall"] < flat["recall_high"]
    assert flat["recall_abuse"] == 100
    assert "recall_harm_to_others" not in flat


def test_a_case_is_read_with_what_was_said_before_it():
    screen = screen_that(SEES)
    before = (Turn(Role.SEEKER, "hi"), Turn(Role.SUPPORTER, "Hello."))
    evaluate_cases(screen, [Case("Soup.", "none", before=before)])
    ((reading,),) = screen.reader.asked  # type: ignore[union-attr]
    assert reading.turns == (*before, Turn(Role.SEEKER, "Soup."))


def test_a_conversation_counts_once_by_the_worst_that_was_raised_in_it():
    talks = [
        talk("clear", "Soup.", "The rope is there.", "It rains.", danger="suicide", shape="third message"),
        talk("clear", "I am tired.", "Soup.", danger="abuse", shape="indirect"),
        talk("clear", "Soup.", danger="child"),
        talk("doubt", "I am tired."),  # counted nowhere
        talk("none", "Soup.", "I am tired.", "More soup."),
        talk("none", "Soup."),
    ]
    report = evaluate_talks(screen_that(SEES), talks)
    assert (report.dangers, report.harmless) == (3, 2)
    assert report.recall.value == pytest.approx(200 / 3)
    assert report.recall_clear.value == pytest.approx(100 / 3)
    assert (report.false_alarms.value, report.false_clear.value) == (50, 0)
    assert report.kind_named.value == 100
    assert report.by_shape["indirect"].value == 100
    assert [item.wanted for item in report.misses] == ["child"]
    assert [item.text for item in report.alarms] == ["I am tired."]


def test_of_a_conversation_about_a_doubt_the_danger_is_not_asked():
    report = evaluate_talks(screen_that(SEES), [talk("doubt", "The rope.", danger="suicide")])
    assert (report.dangers, report.harmless) == (0, 0)
    assert (report.recall.value, report.recall.high) == (0, 100)


def test_the_state_goes_on_from_message_to_message():
    turns = talk("clear", "The rope is there.", "It rains.", "It rains on.").turns
    found = list(walk(screen_that(SEES), turns))
    assert [text for text, _ in found] == ["The rope is there.", "It rains.", "It rains on."]
    assert [screening.answer for _, screening in found] == ["danger"] * 3
    assert [screening.state.turns for _, screening in found] == [1, 2, 3]
    assert {screening.danger for _, screening in found} == {Danger.SUICIDE}
