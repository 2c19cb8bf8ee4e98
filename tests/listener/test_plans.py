"""Plans whose day has passed. Every note was said on Tuesday, 2026-11-17."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from allears.conversation import Persona, PersonaSentence
from allears.listener.plans import LATEST, day_of, due

SAID = date(2026, 11, 17)  # a Tuesday


@pytest.mark.parametrize(
    ("note", "day"),
    [
        ("My interview is on Friday.", "2026-11-20"),
        ("i have a job interview friday", "2026-11-20"),
        ("My exam is on Thursday morning.", "2026-11-19"),
        ("I see my therapist on tuesday", "2026-11-24"),
        ("My scan is on Monday.", "2026-11-23"),
        ("I'm meeting her this Saturday.", "2026-11-21"),
        ("I fly home next Friday.", "2026-11-27"),
        ("The hearing is next Monday.", "2026-11-23"),
        ("I have court on wed", "2026-11-18"),
        ("The exam is friday next week.", "2026-11-27"),
        ("The wedding is a week on Saturday.", "2026-11-28"),
        ("My driving test is tomorrow.", "2026-11-18"),
        ("i have an exam 2morrow", "2026-11-18"),
        ("My surgery is the day after tomorrow.", "2026-11-19"),
        ("I have a date tonight.", "2026-11-17"),
        ("My first shift is today.", "2026-11-17"),
        ("My exam is on the 14th.", "2026-12-14"),
        ("My exam is on the 20th.", "2026-11-20"),
        ("My rent is due on the 31st.", "2026-12-31"),
        ("My operation is on December 3.", "2026-12-03"),
        ("We get married on the 3rd of June.", "2027-06-03"),
        ("My birthday is on 2 April.", "2027-04-02"),
        ("The audition is Nov 30th", "2026-11-30"),
        ("My visa runs out on May 5, 2028.", "2028-05-05"),
        ("My flight is on 2026-12-01.", "2026-12-01"),
        ("The funeral is in three days.", "2026-11-20"),
        ("I get the results in 2 weeks.", "2026-12-01"),
        ("I move out in a month.", "2026-12-17"),
        ("My marathon is ten days from now.", "2026-11-27"),
        ("My exams are next week.", "2026-11-29"),
        ("I'm visiting my mum next weekend.", "2026-11-29"),
        ("I'm moving this weekend.", "2026-11-22"),
        ("We move next month.", "2026-12-31"),
        ("My baby is due in June.", "2027-06-30"),
        ("I start my new job in December.", "2026-12-31"),
        ("I run every Sunday.", None),
        ("I visit mum on tuesdays and sundays", None),
        ("My dad died last Friday.", None),
        ("I was in hospital on Monday.", None),
        ("I have a dog called Friday's Child.", None),
        ("All 3 may come to my party.", None),
        ("My birthday is on 3 May.", "2027-05-03"),
        ("I got an interview on Friday.", "2026-11-20"),
        ("I got into a fight on Friday.", None),
        ("My last exam is on Friday.", "2026-11-20"),
        ("I've been sad since Monday.", None),
        ("I may move to Berlin.", None),
        ("This is the 14th time I moved.", None),
        ("I have three cats.", None),
        ("My exam is on February 30.", None),
        ("My sun lamp is broken.", None),
        ("The march was long and I marched.", None),
        ("I got married on June 3.", None),
    ],
)
def test_the_day_a_note_speaks_of(note: str, day: str | None):
    assert day_of(note, SAID) == (date.fromisoformat(day) if day else None)


def notes(*texts: str) -> Persona:
    return Persona(tuple(PersonaSentence(text, f"turn {2 * row + 1}") for row, text in enumerate(texts)))


FRIDAY = date(2026, 11, 20)
SAID_ON = {"turn 1": SAID, "turn 3": SAID}


@pytest.mark.parametrize(
    ("days", "is_due"), [(-1, False), (0, False), (1, True), (LATEST, True), (LATEST + 1, False)]
)
def test_a_plan_is_due_from_the_day_after_for_two_weeks(days: int, is_due: bool):
    found = due(notes("My interview is on Friday."), FRIDAY + timedelta(days), SAID_ON)
    assert (found is not None) == is_due


def test_the_plan_that_passed_last_is_asked_about():
    persona = notes("My interview is on Friday.", "My exam is tomorrow.")
    assert due(persona, date(2026, 11, 24), SAID_ON) == persona.sentences[0]


def test_a_note_of_which_nobody_knows_when_it_was_said_is_no_plan():
    persona = notes("My interview is on Friday.")
    assert due(persona, date(2026, 11, 24), {}) is None
    assert due(persona, date(2026, 11, 24), {"My interview is on Friday.": SAID}) == persona.sentences[0]


def test_a_plan_over_the_turn_of_the_year_finds_its_day():
    assert day_of("My exam is on the 2nd.", date(2026, 12, 30)) == date(2027, 1, 2)
    assert day_of("I move out in two months.", date(2026, 12, 31)) == date(2027, 2, 28)
    assert day_of("We move next month.", date(2026, 12, 31)) == date(2027, 1, 31)
    assert day_of("My exam is on Feb 29.", date(2027, 12, 31)) == date(2028, 2, 29)
