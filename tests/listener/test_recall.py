"""Questions about what the person told, the notes that answer them, and notes said back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from allears.conversation import Persona, PersonaSentence
from allears.listener.recall import asks_for_a_fact, recalled, second_person, told

HERE = Path(__file__).parent
NOTES = ("My dog is called Biscuit.", "I live in Leeds.", "My exam is on the 14th.")


def persona(*notes: str) -> Persona:
    return Persona(tuple(PersonaSentence(note, f"turn {2 * row + 1}") for row, note in enumerate(notes)))


def right_share(name: str) -> float:
    """How many questions get a note that answers them first, or none where none does."""
    rows = [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]
    right = 0
    for row in rows:
        found = recalled(row["question"], persona(*row["notes"]))
        answers = [row["notes"][place] for place in row["answers"]]
        right += (found[0].text in answers) if found and answers else not found and not answers
    return right / len(rows)


@pytest.mark.parametrize(
    "name", ["recall.jsonl", "recall_unseen.jsonl"]
)  # the second was never looked at for tuning
def test_nine_questions_in_ten_get_their_note_by_words_alone(name: str):
    assert right_share(name) >= 0.9


def towards(note: str, near: float) -> npt.NDArray[np.float32]:
    """A vector whose cosine with the question's is `near` for one note and 0 for others."""
    return (
        np.array([near, (1 - near**2) ** 0.5], np.float32)
        if note == NOTES[0]
        else np.array([0, 1], np.float32)
    )


@pytest.mark.parametrize(("near", "found"), [(0.9, 1), (0.3, 0)])
def test_a_note_without_a_word_in_common_is_found_by_its_nearness(near: float, found: int):
    asked: list[str] = []

    def similarity(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        asked.extend(texts)
        return np.stack([np.array([1, 0], np.float32), *(towards(text, near) for text in texts[1:])])

    question = "do you remember my little companion?"
    assert recalled(question, persona(*NOTES)) == ()
    notes = recalled(question, persona(*NOTES), similarity)
    assert [note.text for note in notes] == [NOTES[0]][:found]
    assert asked == ["do you remember my little companion", *NOTES]


def test_nothing_is_asked_of_the_vectors_where_nothing_was_asked_of_memory():
    def similarity(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        raise AssertionError("no vectors are needed")

    assert recalled("my dog ate my homework", persona(*NOTES), similarity) == ()
    assert recalled("what's my name?", Persona(), similarity) == ()


def test_a_note_keeps_where_it_was_said():
    assert recalled("when is my exam?", persona(*NOTES)) == (PersonaSentence(NOTES[2], "turn 5"),)


@pytest.mark.parametrize(
    "message",
    [
        "", "I have an exam", "what should i do about my boss?", "what do i do now?", "do you remember me",
        "forget that", "what do you know about me?", "i remember my dog every day", "who are you?", "how are you?",
        "how do i tell my mum?", "when will i feel better?", "do you know what i mean?", "what do i tell my kids?",
    ],
)  # fmt: skip
def test_what_memory_cannot_answer_is_no_question_about_it(message: str):
    assert not asks_for_a_fact(message)


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("My dog is called Biscuit.", "your dog is called Biscuit"),
        ("I am a nurse.", "you are a nurse"),
        ("I'm 67 years old.", "you're 67 years old"),
        ("im a student", "you're a student"),
        ("I’ve been sober for 90 days!", "you've been sober for 90 days"),
        ("I was fired and I wasn't told why.", "you were fired and you weren't told why"),
        ("My boss hates me.", "your boss hates you"),
        ("We have our wedding in June.", "you have your wedding in June"),
        ("We're moving and I'll miss my mum.", "you're moving and you'll miss your mum"),
        ("The red bike is mine.", "the red bike is yours"),
        ("I cut myself shaving.", "you cut yourself shaving"),
        ("I live in the US.", "you live in the US"),
        ("Malik is my best friend.", "Malik is your best friend"),
        ("Imogen and Mya mind mining.", "Imogen and Mya mind mining"),
        ("In May I start at Amsterdam.", "in May you start at Amsterdam"),
        ("am I old at 30", "are you old at 30"),
        ("I'd like to swim", "you'd like to swim"),
        ("", ""),
    ],
)
def test_a_note_is_said_in_the_second_person(note: str, said: str):
    assert second_person(note) == said


def test_a_note_is_said_back_in_one_sentence():
    assert told(persona(*NOTES).sentences) == "You told me that your dog is called Biscuit."
    assert told(()) == ""
