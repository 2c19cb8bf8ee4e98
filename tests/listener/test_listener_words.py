"""What a reply presumes, what it takes up, and what is said twice."""

from __future__ import annotations

import pytest

from allears.listener.wording import opening, overlap, presumed, stem, stems, telling


@pytest.mark.parametrize(
    ("one", "other"),
    [("dog", "puppy"), ("mum", "mother"), ("exam", "tests"), ("cried", "crying"),
     ("running", "run"), ("worries", "worry")],
)  # fmt: skip
def test_words_for_the_same_thing_are_one(one, other):
    assert stem(one) == stem(other)


def test_words_for_different_things_stay_apart():
    assert len({stem(word) for word in ("dog", "cat", "mother", "father", "boss", "exam")}) == 6


def test_a_reply_presumes_what_nobody_mentioned():
    said = stems(["My puppy ran away"])
    assert not presumed("How old is your dog?", said)
    assert presumed("Losing your grandmother leaves a hole in every holiday.", said) == {"grandma", "holiday"}


def test_a_reply_to_anybody_presumes_nothing():
    assert not presumed("That is a lot to carry. What weighs most on you right now?", stems(["I feel bad"]))


def test_common_words_tell_nothing():
    assert telling("What would you like to say about it?") == frozenset()
    assert telling("The lighthouse keeper waved") >= {"lighthous"}


def test_overlap_counts_the_shorter_text():
    assert overlap("How long has it been?", "How long has it been like that for you?") == 1
    assert overlap("Congratulations!", "How are you?") == 0
    assert overlap("", "anything") == 0
    assert opening("Oh no. What happened?") == ("oh", "no")
