"""What is said to the listener itself is answered, and nothing else is taken for it."""

from __future__ import annotations

import re

import pytest

from allears.listener.answering import _answers, answers


@pytest.mark.parametrize(
    "message",
    [
        "You're not really saying much, are you?",
        "that doesn't help",
        "But you don't understand me!",
        "stop repeating what I say",
        "You already asked that.",
        "Please just listen",
        "I don’t want any advice",
        "what can you do?",
        "What would you do?",
        "So what should I do now?",
        "Wish me luck!",
    ],
)
def test_it_is_answered(message: str) -> None:
    assert answers(message)


@pytest.mark.parametrize(
    "message",
    [
        "My husband doesn't understand me",
        "You don't understand how much I loved her, she was all I had",
        "It doesn't help that my boss is watching",
        "He never listens to me",
        "what should I do with her blanket and her toys?",
        "My friends wish me luck and laugh",
        "",
        "???",
    ],
)
def test_what_is_about_somebody_else_is_left_to_the_others(message: str) -> None:
    assert answers(message) == []


def test_the_same_seed_gives_the_same_order_and_another_place_may_not() -> None:
    assert answers("that doesn't help", 3, 1) == answers("that doesn't help", 3, 1)
    assert {answers("that doesn't help", 3, place)[0].text for place in range(20)} == {
        answers("that doesn't help")[number].text for number in range(2)
    }


def test_every_answer_is_whole() -> None:
    for each in _answers():
        assert all(re.search(r"[.!?]$", text) for text in each.texts)
