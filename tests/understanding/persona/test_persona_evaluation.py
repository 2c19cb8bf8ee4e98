"""How an extractor is measured, on turns whose gold is known."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from allears.conversation import Conversation, Role, Turn
from allears.errors import AllearsError
from allears.evaluation.persona import GoldTurn, evaluate_persona, gold_turns
from allears.evaluation.persona_judgement import CHOICES, COLUMNS, write_form
from allears.metrics.rouge import rouge_l
from allears.personas.examples import part_of

pytest.importorskip("rouge_score")

TURNS = [
    GoldTurn("a", 1, "My goat is ill today.", ("I have a goat.",)),
    GoldTurn("a", 3, "Rain again!"),
    GoldTurn("b", 1, "I sing and I don't like tea.", ("I sing. I don't like tea.",)),
    GoldTurn("b", 3, "I paint my boat.", ("I have a boat.",)),
    GoldTurn("b", 5, "Well, good night."),
]
ANSWERS = {
    "My goat is ill today.": ("I have a goat.",),
    "I sing and I don't like tea.": ("I sing.", "I am a singer at weddings."),
    "Well, good night.": ("My night is good.",),
}


class Scripted:
    def __init__(self, answers: dict[str, tuple[str, ...]]):
        self.answers, self.asked = answers, []

    def extract(self, utterances: Sequence[str]) -> list[tuple[str, ...]]:
        self.asked.append(tuple(utterances))
        return [self.answers.get(utterance, ()) for utterance in utterances]


def test_the_measures_are_those_of_a_count_by_hand():
    extractor = Scripted(ANSWERS)
    report = evaluate_persona(extractor, TURNS)
    assert [len(asked) for asked in extractor.asked] == [2, 3]  # one person at a time
    # told: turns 1, 3 and 5; gold: turns 1, 3 and 4
    assert report.precision == pytest.approx(100 * 2 / 3)
    assert report.recall == pytest.approx(100 * 2 / 3)
    assert report.f1 == pytest.approx(100 * 2 / 3)
    sung = rouge_l("I sing.", "I sing. I don't like tea.")
    assert report.rouge_l_found == pytest.approx((100 + sung) / 2)
    assert report.rouge_l == pytest.approx((100 + sung) / 3)  # the boat was passed over
    assert report.unsupported == 0
    assert report.dropped == pytest.approx(25)  # the singer at weddings
    assert report.similarity is None
    assert (report.flat()["examples"], report.flat()["positives"], report.flat()["sentences"]) == (5, 3, 3)


def test_without_the_check_what_was_never_said_is_seen():
    report = evaluate_persona(Scripted(ANSWERS), TURNS, check=False)
    assert report.dropped == 0
    assert report.flat()["sentences"] == 4
    # goat, sing, singer, weddings, night, good: the weddings were never said
    assert report.unsupported == pytest.approx(100 / 6)


def test_what_gold_itself_says_that_its_turn_did_not_is_counted():
    turns = [GoldTurn("a", 1, "My goat is ill.", ("My goat is ill.", "My barn burns."))]
    report = evaluate_persona(Scripted({}), turns)
    assert report.flat()["gold_unsupported"] == pytest.approx(
        100 * 2 / 3
    )  # the barn, and that it burns; not the goat


def test_a_sentence_opposed_to_its_turn_or_to_gold_counts_as_a_contradiction():
    told = {
        "I sing and I don't like tea.": ("I like tea.",),
        "I paint my boat.": ("I don't have a boat.",),
    }
    assert evaluate_persona(Scripted(told), TURNS, check=False).contradictions == 100
    assert evaluate_persona(Scripted(ANSWERS), TURNS).contradictions == 0


def test_an_extractor_that_says_nothing_scores_nothing():
    report = evaluate_persona(Scripted({}), TURNS)
    assert (report.f1, report.precision, report.rouge_l, report.rouge_l_found) == (0, 0, 0, 0)


class Letters:
    """An encoder whose tokens are letters, each its own direction."""

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        raise NotImplementedError("only states are asked for")

    def states(self, texts: Sequence[str]) -> list[np.ndarray]:
        return [np.eye(128, dtype=np.float32)[[ord(c) % 128 for c in text]] for text in texts]


def test_similarity_looks_at_turns_where_both_say_something():
    turns = [TURNS[0], TURNS[3]]
    report = evaluate_persona(Scripted(ANSWERS), turns, encoder=Letters())
    assert report.similarity == pytest.approx(100)
    assert report.flat()["similarity"] == report.similarity


def test_a_seeded_sample_is_always_the_same():
    many = [GoldTurn("a", n, f"I keep {n} goats.", ("I keep goats.",)) for n in range(1, 60)]
    first, again, other = (
        evaluate_persona(Scripted({}), many, limit=10, seed=seed).told for seed in (1, 1, 2)
    )
    assert len(first) == 10
    assert first == again != other


def talk(number: int, source: str = "msc", split: str = "valid") -> Conversation:
    turns = (Turn(Role.SEEKER, "I sing."), Turn(Role.SUPPORTER, "Oh."), Turn(Role.SEEKER, "Bye."))
    return Conversation(
        f"msc_s1_valid_{number}",
        turns,
        labels={"persona_by_turn": [["I sing."], [], [" "]]},
        source=source,
        split=split,
    )


def test_of_the_published_valid_file_only_held_out_dialogues_are_measured():
    talks = [talk(number) for number in range(40)]
    held = [each.id for each in talks if part_of(each.id) == "held-out"]
    assert 0 < len(held) < 40
    assert list(dict.fromkeys(turn.conversation for turn in gold_turns(talks))) == held
    assert len(gold_turns(talks, all_turns=True)) == 80
    assert len(gold_turns([talk(n, source="mine") for n in range(40)])) == 80
    assert gold_turns([talk(0)], all_turns=True) == [
        GoldTurn("msc_s1_valid_0", 1, "I sing.", ("I sing.",)),
        GoldTurn("msc_s1_valid_0", 3, "Bye."),
    ]


def test_a_corpus_without_gold_for_each_turn_is_one_sentence():
    bare = Conversation("x", (Turn(Role.SEEKER, "I sing."),), labels={"persona_by_turn": []}, source="mine")
    with pytest.raises(AllearsError, match=r"mine 'x' has no gold persona for each turn"):
        gold_turns([bare])
    with pytest.raises(AllearsError, match="no turns to measure"):
        evaluate_persona(Scripted({}), [])
    with pytest.raises(AllearsError, match="nothing to compare with"):
        evaluate_persona(Scripted({}), [TURNS[1]])


def test_the_judgement_form_has_a_row_per_conversation_with_something_to_judge(tmp_path: Path):
    talks = [talk(0), talk(1)]
    turns = gold_turns(talks, all_turns=True)
    report = evaluate_persona(Scripted({"I sing.": ("I sing.",)}), turns[:2])
    assert write_form(tmp_path / "form.csv", report.told, talks) == 1
    with (tmp_path / "form.csv").open(encoding="utf-8", newline="") as file:
        header, row = list(csv.reader(file))
    assert tuple(header) == COLUMNS
    assert row == [
        "msc_s1_valid_0",
        "seeker: I sing.\nsupporter: Oh.\nseeker: Bye.",
        "I sing.",
        " | ".join(CHOICES),
        "",
        "",
    ]


def test_a_form_that_cannot_be_written_is_one_sentence(tmp_path: Path):
    with pytest.raises(AllearsError, match=r"form.txt: a judgement form ends in .csv"):
        write_form(tmp_path / "form.txt", [], [])
    with pytest.raises(AllearsError, match="does not exist"):
        write_form(tmp_path / "nowhere" / "form.csv", [], [])
