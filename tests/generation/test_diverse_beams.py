"""Diverse beam search: groups that differ, each as good as its price allows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from decoding_models import END, Chain

from allears.decoding import beam_search, diverse_beam_search, interleaved

SHARED: dict[str, Any] = {"end": END, "limit": 6}


@pytest.mark.parametrize("seed", range(10))
def test_one_group_is_beam_search(seed: int) -> None:
    chain = Chain(seed)
    state, start = chain.begin(3)
    found = diverse_beam_search(chain.step, state, start, groups=1, width=3, **SHARED)
    assert [row[0] for row in found] == beam_search(chain.step, state, start, width=3, **SHARED)


@pytest.mark.parametrize("seed", range(10))
def test_without_a_price_all_groups_find_the_same(seed: int) -> None:
    chain = Chain(seed)
    state, start = chain.begin(2)
    for row in diverse_beam_search(chain.step, state, start, groups=3, diversity=0.0, **SHARED):
        assert len(set(row)) == 1


@pytest.mark.parametrize("seed", range(10))
def test_at_a_high_price_no_two_groups_say_the_same_at_the_same_place(seed: int) -> None:
    chain = Chain(seed, words=9)
    chain.table[..., END] = -9  # nobody ends, so that all groups are there all the time
    state, start = chain.begin(2)
    for row in diverse_beam_search(chain.step, state, start, groups=4, width=1, diversity=50.0, **SHARED):
        for words in zip(*(each.tokens for each in row), strict=True):
            assert len(set(words)) == 4


@pytest.mark.parametrize("diversity", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(10))
def test_groups_of_one_are_greedy_at_the_price_of_earlier_words(seed: int, diversity: float) -> None:
    """The definition, written down without a batch: Vijayakumar et al. 2016, algorithm 1, with one beam per group."""
    chain = Chain(seed, words=6)
    chain.table[..., END] = -30
    state, start = chain.begin(1)
    found = diverse_beam_search(chain.step, state, start, groups=3, width=1, diversity=diversity, **SHARED)[0]
    texts: list[tuple[int, ...]] = [(), (), ()]
    for _ in range(6):
        taken: Counter[int] = Counter()
        for group, text in enumerate(texts):
            price = np.array([diversity * taken[word] for word in range(6)])
            best = int(np.argmax(chain.logits(text) - price))
            texts[group] = (*text, best)
            taken[best] += 1
    assert [each.tokens for each in found] == texts


@pytest.mark.parametrize("seed", range(5))
def test_the_price_is_no_part_of_a_score(seed: int) -> None:
    chain = Chain(seed)
    state, start = chain.begin(2)
    for row in diverse_beam_search(chain.step, state, start, groups=3, diversity=2.0, end=END, limit=30):
        for each in row:
            if len(each.tokens) < 30:
                assert each.score == pytest.approx(chain.score(each.tokens))


@pytest.mark.parametrize("seed", range(8))
def test_numpy_and_torch_agree(seed: int) -> None:
    found = []
    for library in (np, torch):
        chain = Chain(seed, library=library)
        state, start = chain.begin(3)
        found.append(diverse_beam_search(chain.step, state, start, groups=3, diversity=1.0, **SHARED))
    assert [[each.tokens for each in row] for row in found[0]] == [
        [each.tokens for each in row] for row in found[1]
    ]


def test_batch_mates_change_nothing() -> None:
    chain = Chain(3)
    starts = np.array([5, 1, 2, 3])

    def run(chosen: np.ndarray) -> Any:
        return diverse_beam_search(chain.step, (chosen[:, None],), chosen, diversity=1.0, **SHARED)

    assert [run(starts[row : row + 1])[0] for row in range(4)] == run(starts)


@pytest.mark.parametrize(("groups", "width"), [(0, 2), (2, 0)])
def test_a_search_without_beams_is_refused(groups: int, width: int) -> None:
    chain = Chain(0)
    state, start = chain.begin(1)
    with pytest.raises(ValueError, match=f"got {groups} of {width}"):
        diverse_beam_search(chain.step, state, start, groups=groups, width=width, **SHARED)


def test_interleaving_keeps_the_shapes() -> None:
    first, second = np.zeros((2, 3, 4)), np.ones((2, 3, 4))
    (both,) = interleaved((first,), (second,))
    assert both.shape == (4, 3, 4)
    assert both.mean(axis=(1, 2)).tolist() == [0, 1, 0, 1]
