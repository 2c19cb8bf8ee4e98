"""What a person said, turned round: right, and only where it may be said back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allears.listener.turning import LONGEST, PLAN, STATEMENT, VERDICT, heard, turned


@pytest.mark.parametrize(
    ("said", "back"),
    [
        ("I miss my sister.", "you miss your sister"),
        ("I was never invited to their wedding.", "you were never invited to their wedding"),
        ("I really was tired after work", "you really were tired after work"),
        ("I wasn't invited", "you weren't invited"),
        ("I’m so tired of this!", "you're so tired of this"),
        ("We lost our house last year.", "you lost your house last year"),
        ("My wife and I moved to Spain.", "you and your wife moved to Spain"),
        ("My coach told me I should rest more.", "your coach told you that you should rest more"),
        ("She was with me when I was crying.", "she was with you when you were crying"),
        ("Well, I guess they forgot about me.", "they forgot about you"),
        ("There is a club in my street, actually.", "there is a club in your street"),
        ("I've been lying awake by myself.", "you've been lying awake by yourself"),
    ],
)
def test_a_statement_is_said_to_the_person_who_made_it(said: str, back: str):
    assert turned(said) == back


@pytest.mark.parametrize(
    "said",
    [
        "I'm stupid.",
        "I am a failure at everything.",
        "I was always the ugly one.",
        "I'm not good enough.",
        "What should I do now?",
        "You don't understand me at all.",
        "Thanks for listening to me.",
        "Just me and the telly.",
        "because he left me",
        "My boss said: \"You are late again.\"",
        "no",
        "",
        "I " + "really " * LONGEST + "tried.",
        "私はとても悲しいです。",
        "😢😢😢",
    ],
)  # fmt: skip
def test_what_must_not_or_cannot_be_said_back_is_left_alone(said: str):
    assert turned(said) is None


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Nobody loves me anymore.", VERDICT),
        ("I never do anything right.", VERDICT),
        ("Everyone at the office goes home early.", STATEMENT),  # of the office, not of oneself
        ("I feel like a terrible friend.", STATEMENT),  # a feeling is what it is
        ("Maybe I'll keep the collar.", PLAN),
        ("I could just go and watch.", PLAN),
        ("I'll be looking after the dinosaur bones.", STATEMENT),
        ("I've never led a team before.", STATEMENT),
    ],
)
def test_verdicts_and_plans_are_told_from_plain_statements(said: str, kind: str):
    assert [each.kind for each in heard(said)] == [kind]


def test_what_somebody_thinks_of_others_is_not_confirmed():
    assert heard("I think my wife is lying to me") == [("you think your wife is lying to you", STATEMENT)]
    assert heard("I think I miss my wife") == [("you miss your wife", STATEMENT)]


def test_an_age_is_not_said_back():
    assert heard("I'm 54 and just lost my job") == [("you just lost your job", STATEMENT)]
    assert heard("I'm 54 and my wife left") == []


def test_every_sentence_of_a_message_is_heard_in_its_order():
    message = "Hello! She was fourteen. I had her since I was at school. What now?"
    assert [each.clause for each in heard(message)] == [
        "she was fourteen",
        "you had her since you were at school",
    ]


@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str):
    for each in heard(text):
        assert each.clause
        assert " i " not in f" {each.clause.lower()} "


def test_somebody_left_is_not_taken_along():
    (found,) = heard("I moved away from my mum and I miss her.")
    assert found.clause == "you moved away from your mum and you miss her"
    assert heard("My mum and I went to the sea.")[0].clause == "you and your mum went to the sea"


def test_what_others_may_do_is_a_thought_and_no_plan():
    (found,) = heard("I think my boyfriend is going to break up with me.")
    assert (found.clause, found.kind) == ("you think your boyfriend is going to break up with you", STATEMENT)
    assert heard("I think I'll call her tonight.")[0].kind == PLAN
