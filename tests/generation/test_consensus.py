"""The draw that the others agree with: what is counted, who is kept, and that a ranker has its say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allears.conversation import Role, Turn
from allears.decoding import Settings, decoding
from allears.errors import AllearsError
from allears.models.generation.reader_chooses import ReaderChooses
from allears.runtime.consensus import (
    PAIR_SHARE,
    RANKER_WEIGHT,
    WORD_PRICE,
    WORD_SHARE,
    agreement,
    draws_for,
    most_agreed,
)
from allears.runtime.generator import Generated, Likelihood, Prompt


def reply(text: str) -> Generated:
    return Generated(text, "Question", -1.0)


def by_hand(texts: Sequence[str]) -> list[float]:
    """The definition, pair by pair."""

    def shared(one: list[Any], other: list[Any]) -> int:
        return sum((Counter(one) & Counter(other)).values())

    said = [text.lower().split() for text in texts]
    found = []
    for place, mine in enumerate(said):
        total = 0.0
        for other in (each for number, each in enumerate(said) if number != place):
            pairs = shared(list(pairwise(mine)), list(pairwise(other)))
            total += shared(mine, other) / WORD_SHARE + pairs / (2 * PAIR_SHARE)
        found.append(total / (len(texts) - 1) - WORD_PRICE * len(mine))
    return found


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join), min_size=2, max_size=6))
def test_agreement_is_what_it_says(texts: list[str]):
    np.testing.assert_allclose(agreement(texts), by_hand(texts), atol=1e-9)


def test_the_odd_one_out_is_not_chosen():
    drawn = [
        reply(text) for text in ("how did it go?", "how did it end?", "bananas are yellow", "how did it go")
    ]
    assert most_agreed(drawn, 1)[0].text.startswith("how did it go")
    assert most_agreed(drawn, 4) == drawn
    assert "bananas are yellow" not in [each.text for each in most_agreed(drawn, 3)]


def test_a_ranker_has_its_say():
    drawn = [reply(text) for text in ("how are you", "how are they", "i hear you")]
    assert most_agreed(drawn, 1)[0] != drawn[2]
    assert (
        most_agreed(drawn, 1, scores=[0, 0, 1 / RANKER_WEIGHT])[0] != drawn[2]
    )  # half a say, not the last word
    alike = [reply(text) for text in ("how are you", "are you how", "you how are")]
    assert most_agreed(alike, 1, scores=[0, 0, 1])[0] == alike[2]


@pytest.mark.parametrize("texts", [["one"], ["same", "same", "same"], ["", "", "?"]])
def test_few_or_equal_draws_are_no_trouble(texts: list[str]):
    drawn = [reply(text) for text in texts]
    assert most_agreed(drawn, 1) == drawn[:1]
    assert agreement([]).shape == (0,)


def test_settings():
    assert draws_for(Settings(), 3) == 3
    assert draws_for(decoding("sample,consensus=8"), 3) == 8
    assert draws_for(decoding("sample,consensus=8"), 9) == 9
    for wrong in ("sample,consensus=-1", "greedy,consensus=4", "beam,consensus=4"):
        with pytest.raises(AllearsError, match="a consensus is found among samples"):
            decoding(wrong)


class Draws:
    """A generator that always draws the same row of texts."""

    texts = ("how did it go?", "how did it end?", "bananas", "how did it go then?")

    def __init__(self) -> None:
        self.asked: list[tuple[int, int, list[int]]] = []

    def generate(
        self, prompts: Any, settings: Settings, seed: Any = 0, *, count: int = 1, alphas: Any = None
    ):
        self.asked.append((settings.consensus, count, list(seed)))
        return [[reply(text) for text in self.texts[:count]] for _ in prompts]

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        return []


class LikesBananas:
    fingerprint = ""

    def encode_responses(self, texts: Sequence[str]) -> list[str]:
        return list(texts)

    def score(self, queries: Any, candidates: list[str], chosen: Any) -> np.ndarray:
        return np.array([[10.0 * ("bananas" in candidates[place]) for place in row] for row in chosen])


def test_the_reader_s_voice_draws_and_lets_the_ranker_judge():
    generator = Draws()
    prompt = Prompt((Turn(Role.SEEKER, "i had an exam"),), strategy="Question")
    opened = []

    def ranker() -> LikesBananas:
        opened.append(1)
        return LikesBananas()

    voice = ReaderChooses(generator, reader=None, ranker=ranker)  # type: ignore[arg-type]
    found = voice.generate([prompt, prompt], decoding("sample,consensus=4"), [5, 6])
    assert [[each.text for each in own] for own in found] == [["how did it go?"]] * 2
    assert generator.asked == [(0, 4, [5]), (0, 4, [6])]  # one prompt at a time, and nobody chooses twice
    assert opened == [1]
    plain = voice.generate([prompt], decoding("sample"), [5])
    assert plain[0][0].text == "how did it go?"
    assert generator.asked[-1] == (0, 1, [5])
