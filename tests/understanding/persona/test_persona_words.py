"""Which words were said, how tokens become sentences, and how weak pairs are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from persona_models import LENGTHS, small_talk_tokenizer, write_corpora

from allears.errors import AllearsError
from allears.personas.examples import (
    PARTS,
    Telling,
    align,
    clean,
    msc_tellings,
    part_of,
    persona_chat_tellings,
)
from allears.personas.gate import f1, fit_threshold
from allears.personas.passages import MOST, passages
from allears.personas.support import bases, content_words, unsupported_share, unsupported_words
from allears.personas.wording import persona_sentences, spell
from allears.training.persona.dataset import TellingDataset, supported


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("dogs", "dog"), ("planned", "planning"), ("hobbies", "hobby"), ("went", "goes"), ("make", "making"),
        ("kids", "children"), ("2", "two"), ("teacher", "teach"), ("loved", "loves"), ("studied", "study"),
    ],
)  # fmt: skip
def test_inflections_of_a_word_share_a_base(first: str, second: str) -> None:
    assert bases(first) & bases(second)


@pytest.mark.parametrize(
    ("first", "second"), [("car", "care"), ("boss", "bos"), ("sing", "s"), ("her", "he")]
)
def test_other_words_share_none(first: str, second: str) -> None:
    assert not bases(first) & bases(second)


def test_content_words_leave_out_what_only_joins() -> None:
    assert content_words("I'm not the one who couldn't walk two dogs.") == ["one", "walk", "two", "dogs"]


def test_unsupported_words_are_those_the_source_never_said() -> None:
    assert unsupported_words("I like walking my dog.", "Took the dogs for a walk") == ["like"]
    assert unsupported_share([("I like my dog.", "my dogs"), ("I sail.", "i sail")]) == pytest.approx(100 / 3)
    assert unsupported_share([]) == 0.0


@pytest.mark.parametrize(
    ("pieces", "source", "text"),
    [
        ("i ' m from oslo .", "Yes, from Oslo!", "I'm from Oslo."),
        ("i work part - time .", "just part-time work", "I work part-time."),
        ("i own 2 . 5 acres .", "It is 2.5 acres", "I own 2.5 acres."),
        ("i have two dog ##s , and a cat .", "", "I have two dogs, and a cat."),
        ("i love the nba .", "The NBA? Love it", "I love the NBA."),
        ("i love boats .", "I LOVE BOATS SO MUCH", "I love boats."),
        ("i like boats .", "Boats are fine", "I like boats."),
    ],
)
def test_pieces_are_spelled_as_people_write(pieces: str, source: str, text: str) -> None:
    assert spell(pieces.split(), source) == text


def test_a_text_becomes_sentences_that_say_something_once() -> None:
    text = "my dog is old. I am. my dog is old. I sail"
    assert persona_sentences(text) == ("My dog is old.", "I sail.")
    assert persona_sentences("") == ()


def test_a_long_utterance_is_read_in_parts_that_end_with_a_sentence(tmp_path: Path) -> None:
    tokenizer = small_talk_tokenizer(tmp_path)
    text = "i have a dog. i live in oslo! my cat is old. " * 3
    parts = passages(text, tokenizer, 12)
    assert all(part[-1] in ".!" and len(tokenizer.encode_many([part])[0]) <= 12 for part in parts)
    assert " ".join(parts) == text.strip()
    assert passages("", tokenizer, 12) == []
    assert len(passages("dog " * 100_000, tokenizer, 12)) == MOST


def test_clean_text_is_written_as_people_write() -> None:
    assert clean("i m tall , and i don t swim .") == "i'm tall, and i don't swim."


PROFILE = [("i play the piano.", [bases("play"), bases("piano")]), ("i have a dog.", [bases("dog")])]


def test_an_utterance_tells_the_sentences_whose_words_it_says() -> None:
    assert align("playing piano relaxes my dog", PROFILE, 0.6) == Telling(
        "playing piano relaxes my dog", "i play the piano. i have a dog.", gold=False
    )
    assert align("i play chess", PROFILE, 0.6) is None  # may tell something the profile does not say
    assert align("how are you?", PROFILE, 0.6) == Telling("how are you?", "", gold=False)


def test_only_sentences_in_the_persons_own_words_are_learned(tmp_path: Path) -> None:
    telling = Telling("my boat is old", "I have an old boat. I like to sail. I am.")
    assert supported(telling, 0.5) == "I have an old boat."
    tokenizer = small_talk_tokenizer(tmp_path)
    other = Telling("my dog is old", "I like sailing.")
    data = TellingDataset([telling, other, Telling("hello", "")], tokenizer, LENGTHS, support=0.5)
    assert data.tells.tolist() == [True, True, False]
    assert [bool(target) for target in data.targets] == [True, False, False]
    assert data.targets[0][-1] == tokenizer.end


def test_all_sessions_of_a_dialogue_are_on_one_side() -> None:
    for number in range(50):
        assert part_of(f"msc_s1_valid_{number}") == part_of(f"msc_s4_valid_{number}")
    sides = [part_of(f"msc_s1_valid_{number}") for number in range(2000)]
    assert 360 < sides.count("held-out") < 440
    assert 160 < sides.count("tuning") < 240


def test_the_parts_are_the_whole_and_share_no_dialogue(tmp_path: Path) -> None:
    root = write_corpora(tmp_path)
    parts = [msc_tellings(part, root) for part in PARTS]
    assert sum(map(len, parts)) == 40 * 2 * 4
    with pytest.raises(AllearsError, match="the parts are train, tuning, held-out"):
        msc_tellings("test", root)


def test_weak_pairs_come_from_both_files_and_follow_from_the_seed(tmp_path: Path) -> None:
    root = write_corpora(tmp_path)
    found = persona_chat_tellings(root, seed=1)
    assert found == persona_chat_tellings(root, seed=1)
    assert Telling("i went to oslo with my boat.", "i have a boat. i am from oslo.", gold=False) in found
    assert Telling("i have a canoe.", "i have a canoe.", gold=False) in found  # a copy
    assert all(each.utterance.endswith("?") for each in found if not each.persona)
    assert len(set(found)) == len(found)


def test_the_threshold_has_the_best_f1() -> None:
    import numpy as np

    likely = np.array([0.9, 0.8, 0.6, 0.6, 0.3, 0.1])
    gold = np.array([True, True, False, True, False, False])
    threshold = fit_threshold(likely, gold)
    assert threshold == pytest.approx(0.45)
    assert f1(likely >= threshold, gold) == pytest.approx(100 * 6 / 7)
    assert f1(likely >= 1.0, gold) == 0.0
