"""Drawing: by the model's probabilities, the same for the same seed, on any library, in any company."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from decoding_models import END, Chain

from allears.decoding import Written, greedy, repetition_penalty, sample, temperature, top_k, top_p

SHARED: dict[str, Any] = {"end": END, "limit": 8}
PAL: dict[str, Any] = {
    "warps": [temperature(0.5), top_k(3), top_p(0.9)],
    "processors": [repetition_penalty(1.03)],
}


def tokens(found: list[list[Written]]) -> list[list[tuple[int, ...]]]:
    return [[each.tokens for each in row] for row in found]


@pytest.mark.parametrize("options", [{}, PAL])
@pytest.mark.parametrize("seed", range(10))
def test_numpy_and_torch_draw_the_same(seed: int, options: dict[str, Any]) -> None:
    found = []
    for library in (np, torch):
        chain = Chain(seed, words=9, library=library)
        state, start = chain.begin(4)
        found.append(sample(chain.step, state, start, seed=seed, count=3, **SHARED, **options))
    assert tokens(found[0]) == tokens(found[1])
    assert len({text for row in tokens(found[0]) for text in row}) > 1


def test_the_same_seed_draws_the_same_and_another_one_something_else() -> None:
    chain = Chain(0)
    state, start = chain.begin(6)
    first, again, other = (sample(chain.step, state, start, seed=seed, **SHARED) for seed in (7, 7, 8))
    assert first == again
    assert tokens(first) != tokens(other)


def test_tokens_are_drawn_as_often_as_they_are_likely() -> None:
    chain = Chain(1)
    state, start = chain.begin(1)
    found = sample(chain.step, state, start, end=END, limit=1, seed=3, count=4000)[0]
    counts = Counter(each.tokens[0] if each.tokens else END for each in found)
    expected = np.exp(chain.logits(())) / np.exp(chain.logits(())).sum()
    drawn = np.array([counts[word] for word in range(5)]) / 4000
    np.testing.assert_allclose(drawn, expected, atol=4 * np.sqrt(0.25 / 4000))


def test_what_a_warp_leaves_out_is_never_drawn() -> None:
    chain = Chain(2)
    state, start = chain.begin(1)
    best = set(np.argsort(chain.logits(()))[-2:].tolist())
    found = sample(chain.step, state, start, end=END, limit=1, seed=3, count=300, warps=[top_k(2)])[0]
    assert {each.tokens[0] if each.tokens else END for each in found} == best


def test_drawing_from_one_token_is_greedy() -> None:
    chain = Chain(3)
    state, start = chain.begin(2)
    found = sample(chain.step, state, start, seed=0, warps=[top_k(1)], **SHARED)
    assert [row[0] for row in found] == greedy(chain.step, state, start, **SHARED)


@pytest.mark.parametrize("options", [{}, PAL])
def test_batch_mates_change_nothing(options: dict[str, Any]) -> None:
    chain = Chain(4)
    starts, seeds = np.array([5, 1, 2, 3]), [11, 12, 13, 14]

    def run(rows: list[int], count: int = 2) -> list[list[Written]]:
        chosen = starts[rows]
        own = [seeds[row] for row in rows]
        return sample(chain.step, (chosen[:, None],), chosen, seed=own, count=count, **SHARED, **options)

    together = run([0, 1, 2, 3])
    assert [run([row])[0] for row in range(4)] == together
    assert run([3, 1]) == [together[3], together[1]]
    assert [row[:1] for row in together] == run([0, 1, 2, 3], count=1)  # nor do more samples of the same row
    assert len({each.tokens for row in together for each in row}) > 4


def test_scores_are_the_models_own() -> None:
    chain = Chain(5)
    state, start = chain.begin(1)
    for each in sample(chain.step, state, start, end=END, limit=30, seed=0, count=20, warps=[top_k(2)])[0]:
        if len(each.tokens) < 30:
            assert each.score == pytest.approx(chain.score(each.tokens))


def test_a_token_without_a_chance_is_drawn_by_neither_end_of_the_range() -> None:
    from allears.decoding.sampling import _draw

    nearly_one = np.nextafter(1.0, 0.0)  # the largest number that NumPy draws
    barred = np.array([[-np.inf, 0.0, 1.0, -np.inf]] * 2)
    assert _draw(barred, [0.0, nearly_one]).tolist() == [1, 2]
    too_small_for_a_number = np.array([[-2000.0, 0.0, 1.0, -2000.0]] * 2)
    assert _draw(too_small_for_a_number, [0.0, nearly_one]).tolist() == [1, 2]
    for spread in np.random.default_rng(0).normal(size=(200, 1, 9)):
        assert _draw(spread, [nearly_one]).tolist() == [8]


def test_too_few_seeds_are_refused() -> None:
    chain = Chain(0)
    state, start = chain.begin(3)
    with pytest.raises(ValueError, match="3 rows need 3 seeds"):
        sample(chain.step, state, start, seed=[1, 2], **SHARED)


def test_nothing_to_write_for_is_no_error() -> None:
    chain = Chain(0)
    state, start = chain.begin(0)
    assert sample(chain.step, state, start, seed=0, count=2, **SHARED) == []
