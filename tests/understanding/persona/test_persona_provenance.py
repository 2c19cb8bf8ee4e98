"""Every sentence is kept with the turn that said so, and only if that turn did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from allears.conversation import Conversation, PersonaSentence, Role, Turn
from allears.models.extractor.loading import load_extractor
from allears.personas.copying import CopyingExtractor
from allears.personas.provenance import (
    ExtractionDoubt,
    extract_persona,
    in_latin_letters,
    sift,
    turns_by_person,
)


class Scripted:
    """An extractor that says what it is told to, and remembers what it was asked."""

    def __init__(self, answers: dict[str, tuple[str, ...]]):
        self.answers, self.asked = answers, []

    def extract(self, utterances: Sequence[str]) -> list[tuple[str, ...]]:
        self.asked.append(list(utterances))
        return [self.answers.get(utterance, ()) for utterance in utterances]


def doubt(sentence: str, source: str) -> ExtractionDoubt | None:
    found = sift([sentence], 1, source)
    return found.dropped[0].doubt if found.dropped else None


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("I am studying to be a pharmacist.", "I'm studying to be a pharmacist."),
        ("I studied law.", "Back then I was studying law at night."),
        ("My wife works.", "His wife? No, mine works."),
        ("I have a goat.", "My goat is ill."),
        ("I have two cats.", "Two cats wait for me at home."),
        ("I like rye bread.", "Rye bread, mostly!"),  # "like" only frames the answer
        ("I don't like rain.", "I don’t like rain at all."),
    ],
)
def test_what_a_turn_says_is_kept(sentence: str, source: str):
    assert doubt(sentence, source) is None


@pytest.mark.parametrize(
    ("sentence", "source", "why"),
    [
        ("I am a plumber.", "My pipes are broken.", ExtractionDoubt.NEVER_SAID),
        ("I have a red car and a boat.", "I have a red car.", ExtractionDoubt.NEVER_SAID),
        ("You have a goat.", "You have a goat, right?", ExtractionDoubt.NOT_THEIRS),
        ("I like rain.", "I don't like rain.", ExtractionDoubt.OPPOSITE),
        ("I am into cars.", "Hi. I'm not into cars.", ExtractionDoubt.OPPOSITE),
        ("I smoke.", "I used to smoke.", ExtractionDoubt.OPPOSITE),
    ],
)
def test_what_a_turn_does_not_say_is_dropped_with_the_reason(
    sentence: str, source: str, why: ExtractionDoubt
):
    assert doubt(sentence, source) is why


def test_sentences_carry_their_turn_and_drops_are_counted():
    extractor = Scripted(
        {
            "My goat is ill.": ("I have a goat.", "I am a vet.", "I own a farm."),
            "I sing.": ("I sing.", "She sings."),
        }
    )
    found = extract_persona(extractor, [(2, "My goat is ill."), (4, "Hm."), (6, "I sing.")])
    assert found.kept == (PersonaSentence("I have a goat.", "turn 2"), PersonaSentence("I sing.", "turn 6"))
    assert found.doubts == {"words that were never said": 2, "not in the first person": 1}
    assert [item.sentence.source for item in found.dropped] == ["turn 2", "turn 2", "turn 6"]


def test_turns_in_another_script_or_without_words_are_not_given_to_the_extractor():
    extractor = Scripted({})
    turns = [(1, "Я люблю чай."), (2, "😀😀"), (3, ""), (4, "I like čaj."), (5, "我喜欢茶"), (6, "123 456")]
    found = extract_persona(extractor, turns)
    assert extractor.asked == [["I like čaj."]]
    assert found.unread == (1, 5)
    assert extract_persona(Scripted({}), [(1, "😀")]).kept == ()


@pytest.mark.parametrize(
    ("text", "latin"),
    [("tea", True), ("naïve", True), ("чай", False), ("ok, чай", False), ("", False), ("7!", False)],
)
def test_letters_decide_the_script(text: str, latin: bool):
    assert in_latin_letters(text) is latin


def test_only_the_seekers_turns_are_read_under_the_name_the_personas_use():
    talk = Conversation(
        "t",
        (
            Turn(Role.SEEKER, "A."),
            Turn(Role.SUPPORTER, "B."),
            Turn(Role.SEEKER, "C.", author="zoe"),
            Turn(Role.SEEKER, "D.", author="bob"),
            Turn(Role.SEEKER, "E.", author="zoe"),
        ),
    )
    assert turns_by_person(talk) == {"seeker": [(1, "A.")], "zoe": [(3, "C."), (5, "E.")], "bob": [(4, "D.")]}
    assert turns_by_person(talk, Role.SUPPORTER) == {"supporter": [(2, "B.")]}


def test_the_copying_baseline_takes_first_person_sentences_as_they_are():
    extractor = load_extractor("copy")
    assert isinstance(extractor, CopyingExtractor)
    assert extractor.extract(["Hi! I sell rye bread. Do you know my shop? It rains.", "😀", ""]) == [
        ("I sell rye bread.",),
        (),
        (),
    ]


def test_a_trained_extractor_is_opened_by_its_run_folder_and_its_words_are_checked(tmp_path: Path):
    from persona_models import small_extractor

    from allears.models.extractor import saved

    made = small_extractor(tmp_path / "run")
    made.card = replace(made.card, threshold=0.0)  # everything tells something
    saved.save(tmp_path / "run" / "best", made.model, made.card, made.tokenizer)
    extractor = load_extractor(tmp_path / "run")
    turns = [(1, "i have a boat in oslo."), (3, "well, my cat is old!"), (5, "😀")]
    assert extractor.extract([text for _, text in turns]) == made.extract([text for _, text in turns])
    found = extract_persona(extractor, turns)
    assert found.kept or found.dropped
    assert {each.source for each in found.kept} <= {"turn 1", "turn 3"}
    assert all(sift([each.text], 1, dict(turns)[int(each.source.split()[1])]).kept for each in found.kept)
