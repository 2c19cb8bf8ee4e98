"""What is known of a conversation beside its words."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as made

from allears.conversation import Role, Turn
from allears.corpora.heads import STRATEGY_TURNS, strategy_reading
from allears.labels import STRATEGIES
from allears.text.conversation_facts import FACTS, conversation_facts, facts_of, no_facts

SEEKER, SUPPORTER = Role.SEEKER, Role.SUPPORTER
TALK = (
    Turn(SEEKER, "the roof leaks again"),
    Turn(SUPPORTER, "since when?", strategy="Question"),
    Turn(SEEKER, "since monday, and nobody comes"),
    Turn(SUPPORTER, "that wears you out", strategy="Reflection of feelings"),
    Turn(SEEKER, "it does. what should i do?"),
)

TURNS = made.lists(
    made.builds(
        Turn, made.sampled_from(Role), made.text(max_size=40), strategy=made.sampled_from([None, *STRATEGIES])
    ),
    max_size=12,
)


@given(TURNS)
def test_every_conversation_has_as_many_facts_none_of_them_large(turns: list[Turn]):
    facts = conversation_facts(turns)
    assert (facts.shape, facts.dtype) == ((FACTS,), np.float32)
    assert ((facts >= 0) & (facts <= 6)).all()


def test_a_conversation_that_never_ends_has_facts_that_do_not_grow():
    assert conversation_facts(TALK * 2000).max() <= 6


def test_a_very_long_message_costs_little():
    start = time.perf_counter()
    conversation_facts([Turn(SEEKER, "sad " * 25_000), Turn(SUPPORTER, "\N{LOUDLY CRYING FACE}" * 100_000)])
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("place", [1, 3])
def test_what_the_supporter_did_is_a_fact(place: int):
    other = [replace(turn, strategy="Information") if n == place else turn for n, turn in enumerate(TALK)]
    assert not np.array_equal(conversation_facts(TALK), conversation_facts(other))


def test_the_order_of_what_was_done_is_a_fact():
    first, second = TALK[1].strategy, TALK[3].strategy
    swapped = list(TALK)
    swapped[1], swapped[3] = replace(TALK[1], strategy=second), replace(TALK[3], strategy=first)
    assert not np.array_equal(conversation_facts(TALK), conversation_facts(swapped))


def test_a_strategy_of_another_scheme_is_as_good_as_none():
    def named(strategy: str | None) -> list[Turn]:
        return [replace(turn, strategy=strategy) if turn.strategy else turn for turn in TALK]

    assert np.array_equal(conversation_facts(named("Small talk")), conversation_facts(named(None)))


def test_a_strategy_noted_on_the_seekers_turn_is_nothing_the_supporter_did():
    noted = [replace(turn, strategy="Others") if turn.speaker is SEEKER else turn for turn in TALK]
    assert np.array_equal(conversation_facts(noted), conversation_facts(TALK))


def test_whether_the_supporter_speaks_on_is_a_fact():
    again = (*TALK[:-1], replace(TALK[-1], speaker=SUPPORTER))
    assert not np.array_equal(conversation_facts(again), conversation_facts(TALK))


def test_turns_whose_words_are_not_read_count_as_well():
    long = TALK[:-1] * 4
    assert len(long) > STRATEGY_TURNS
    (found,) = facts_of([strategy_reading(long)])
    assert np.array_equal(found, conversation_facts(long))
    assert not np.array_equal(found, conversation_facts(long[-STRATEGY_TURNS:]))


def test_no_conversation_has_the_facts_of_an_empty_one():
    assert np.array_equal(no_facts(2), np.stack([conversation_facts(())] * 2))
    assert facts_of([]).shape == (0, FACTS)
