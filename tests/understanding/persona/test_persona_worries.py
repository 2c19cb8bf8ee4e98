"""What weighs on somebody, in their own words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from persona_models import small_talk_tokenizer

from allears.personas.lengths import Lengths
from allears.personas.worries import worries
from allears.personas.writing import WritingExtractor


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I'm just feeling nervous about my driving test.", "I feel nervous about my driving test."),
        (
            "im so stressed because my landlord wants us out, help",
            "I am stressed because my landlord wants us out.",
        ),
        (
            "Hello! I have been really lonely because of the move and I hate it",
            "I am lonely because of the move.",
        ),
        ("I’m worried that my brother won’t call.", "I am worried that my brother won't call."),
        ("I feel guilty that I left my dog alone", "I feel guilty that I left my dog alone."),
        ("I am SCARED of the operation but they say it is safe", "I am scared of the operation."),
    ],
)
def test_a_worry_is_told_in_the_persons_own_words(said: str, told: str):
    assert worries(said) == (told,)


@pytest.mark.parametrize(
    "said",
    [
        "I am not worried about the exam.",
        "I was sad about the old cat for years.",
        "I'm worried about it.",
        "I'm anxious.",
        "She is anxious about her job.",
        "Are you worried about the exam?",
        "I am angry because " + "word " * 20,
        "",
    ],
)
def test_what_is_no_worry_of_now_with_a_name_is_not(said: str):
    assert worries(said) == ()


class Card:
    lengths, threshold, framing_price = Lengths(), 0.5, 2.0


class Scripted(WritingExtractor):
    card, beam = Card(), 1

    def __init__(self, tokenizer, written: str):
        self.tokenizer, self.written = tokenizer, written

    def told(self, parts: Sequence[str]) -> list[str]:
        return [self.written for _ in parts]


def test_a_worry_takes_the_place_of_a_written_sentence_that_says_less(tmp_path: Path):
    tokenizer = small_talk_tokenizer(tmp_path)
    less = Scripted(tokenizer, "I have a job.")
    assert less.extract(["I'm nervous about my new job."]) == [("I am nervous about my new job.",)]
    other = Scripted(tokenizer, "I have a sister.")
    assert other.extract(["I'm nervous about my new job, my sister says."]) == [
        ("I have a sister.", "I am nervous about my new job.")
    ]
    assert less.extract(["I have a job."]) == [("I have a job.",)]
