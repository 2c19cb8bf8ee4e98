"""The PEC paper's Figure 1: two people's responses against random sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from allears.conversation import Conversation, Role, Turn
from allears.corpora.speaker_similarity import save_similarity_picture, speaker_similarity
from allears.errors import AllearsError


def talk(number: int, who: str, said: str, emotion: str | None = "sad") -> Conversation:
    turns = (Turn(Role.SEEKER, "hello", "asker"), Turn(Role.SUPPORTER, said, who))
    return Conversation(id=str(number), turns=turns, emotion=emotion)


def corpus(second: str) -> list[Conversation]:
    """Two people; the first always says the same, the second something of their own or also that."""
    fillers = [talk(number + 100, f"other{number}", f"different word{number}") for number in range(20)]
    both = [
        talk(number, ("ann", "bob")[number % 2], ("so sorry dear", second)[number % 2])
        for number in range(24)
    ]
    return both + fillers


def test_people_with_words_of_their_own_are_less_alike_than_chance():
    (row,) = speaker_similarity(corpus("cheer up friend"))
    assert (row.emotion, row.pairs) == ("sad", 1)
    assert row.people == 0
    assert row.random > 0.3


def test_people_who_say_the_same_are_more_alike_than_chance(tmp_path: Path):
    rows = speaker_similarity(corpus("so sorry dear"))
    assert rows[0].people == pytest.approx(1)
    assert rows[0].random < 1
    save_similarity_picture(rows, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_a_corpus_without_names_or_with_too_few_responses_is_told():
    nameless = Conversation(
        id="1", turns=(Turn(Role.SEEKER, "hi"), Turn(Role.SUPPORTER, "hello")), emotion="sad"
    )
    with pytest.raises(AllearsError, match="does not say who answered"):
        speaker_similarity([nameless])
    with pytest.raises(AllearsError, match="smaller --least"):
        speaker_similarity([talk(1, "ann", "yes"), talk(2, "bob", "no")])


def test_a_copy_that_names_only_the_seats_is_told_from_one_without_any_names():
    seated = [
        Conversation(
            id=str(n), turns=(Turn(Role.SEEKER, "hi", "0"), Turn(Role.SUPPORTER, "hello", "1")), emotion="sad"
        )
        for n in range(30)
    ]
    with pytest.raises(AllearsError, match="speakers only 0 and 1"):
        speaker_similarity(seated)
