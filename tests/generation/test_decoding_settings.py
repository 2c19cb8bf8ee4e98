"""Plain values choose the search."""

from __future__ import annotations

from typing import Any

import pytest
from decoding_models import END, Chain

from allears.decoding import (
    PAL_SETTINGS,
    Settings,
    at_least,
    beam_search,
    begin_with,
    diverse_beam_search,
    greedy,
    repetition_penalty,
    sample,
    temperature,
    top_k,
    top_p,
    write,
)
from allears.errors import AllearsError

NO_LIMITS: dict[str, Any] = {"longest": 7, "shortest": 0}
SHARED: dict[str, Any] = {"end": END, "limit": 7}


def test_each_method_is_the_search_of_its_name() -> None:
    chain = Chain(0)
    state, start = chain.begin(3)
    given = chain.step, state, start
    assert write(Settings("greedy", **NO_LIMITS), *given, end=END) == [
        [each] for each in greedy(*given, **SHARED)
    ]
    assert write(Settings("beam", width=3, **NO_LIMITS), *given, end=END) == [
        [each] for each in beam_search(*given, width=3, **SHARED)
    ]
    assert write(Settings("diverse", width=2, diversity=1.0, **NO_LIMITS), *given, end=END, count=4) == (
        diverse_beam_search(*given, groups=4, width=2, diversity=1.0, **SHARED)
    )
    assert write(Settings("sample", **NO_LIMITS), *given, end=END, count=2, seed=5) == sample(
        *given, seed=5, count=2, **SHARED
    )


def test_pals_settings_are_the_papers() -> None:
    chain = Chain(1)
    state, start = chain.begin(2)
    expected = sample(
        chain.step,
        state,
        start,
        end=END,
        limit=PAL_SETTINGS.longest,
        seed=0,
        processors=[repetition_penalty(1.03), at_least(1, END)],
        warps=[temperature(0.5), top_k(10), top_p(0.9)],
    )
    assert write(PAL_SETTINGS, chain.step, state, start, end=END) == expected


def test_a_generators_own_processors_count_as_well() -> None:
    chain = Chain(2)
    state, start = chain.begin(3)
    found = write(PAL_SETTINGS, chain.step, state, start, end=END, count=5, processors=[begin_with([3])])
    assert {each.tokens[0] for row in found for each in row} == {3}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"method": "guess"}, "no way of decoding called 'guess'; there are: greedy, beam, diverse, sample"),
        ({"shortest": 9, "longest": 8}, "at least 9 and at most 8 tokens"),
        ({"longest": 0, "shortest": 0}, "at most 0 tokens"),
        ({"width": 0}, "width of at least 1, not 0"),
        ({"temperature": 0.0}, "temperature is above 0, not 0.0"),
        ({"top_k": 0}, "at least 1 token, not 0"),
        ({"top_p": 2.0}, "at most 1, not 2.0"),
        ({"repetition_penalty": -1.0}, "not -1.0"),
        ({"no_repeated_ngrams": 0}, "at least 1 token, not 0"),
    ],
)
def test_impossible_values_are_refused_before_anything_is_written(
    values: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(AllearsError, match=sentence):
        Settings(**values)


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_several_answers_of_a_method_that_has_one_are_refused(method: Any) -> None:
    chain = Chain(0)
    state, start = chain.begin(1)
    with pytest.raises(AllearsError, match="only one answer; for 3 of them use sample or diverse"):
        write(Settings(method), chain.step, state, start, end=END, count=3)
