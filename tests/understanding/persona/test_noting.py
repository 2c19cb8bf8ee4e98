"""What the listener notes of what somebody said: what is about them, and lasts."""

from __future__ import annotations

import pytest

from allears.personas.noting import NotingExtractor, noted


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ("I work nights at a bakery.", "I work nights at a bakery."),
        ("My sister's wedding is in June", "My sister's wedding is in June"),
        ("no, i haven't told my boss", "I haven't told my boss"),
        ("A year ago I couldn't swim.", "A year ago I couldn't swim."),
        ("I'd like to learn the cello.", "I'd like to learn the cello."),
        ("I don't know anyone here.", "I don't know anyone here."),
        ("I’m scared of my exams.", "I’m scared of my exams."),
        ("My brother says it was his idea.", "My brother says it was his idea."),
    ],
)
def test_what_is_about_a_person_and_lasts_is_noted(said: str, note: str) -> None:
    assert noted(said) == note


@pytest.mark.parametrize(
    "said",
    [
        "thanks for letting me talk",
        "Okay, I'm going to make some tea.",
        "Maybe I'll ask my neighbour.",
        "I could try that tomorrow.",
        "I suppose I was tired.",
        "I don't know what to say to my aunt.",
        "I feel a bit better now.",
        "He never listens to me.",
        "You're right, she knows that I care.",
        "I told him twice already.",
        "I had her since I was small.",
        "The driver waved at me.",
        "Do you think I am mean?",
        "I have to go now",
        "...",
        "",
    ],
)
def test_what_passes_or_cannot_be_understood_later_is_not(said: str) -> None:
    assert noted(said) == ""


def test_each_sentence_of_a_message_is_looked_at() -> None:
    said = "Hello. My cat is called Plum. I think so. I live in Ghent!"
    assert NotingExtractor().extract([said, ""]) == [("My cat is called Plum.", "I live in Ghent!"), ()]
