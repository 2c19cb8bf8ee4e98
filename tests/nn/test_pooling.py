"""Padding can never win a maximum, weigh in a mean or take attention."""

from __future__ import annotations

import pytest
import torch

from allears.errors import AllearsError
from allears.nn.pooling import masked_max, masked_mean, masked_softmax, pool
from allears.nn.similarity import dot_scores, mean_query

STATES = torch.tensor([[[1.0, -5.0], [3.0, -1.0], [100.0, 100.0]], [[7.0, 7.0], [8.0, 8.0], [9.0, 9.0]]])
MASK = torch.tensor([[1, 1, 0], [0, 0, 0]])


def test_the_mean_is_over_real_tokens() -> None:
    assert masked_mean(STATES, MASK).tolist() == [[2.0, -3.0], [0.0, 0.0]]


def test_the_maximum_is_over_real_tokens_even_when_all_are_negative() -> None:
    assert masked_max(STATES, MASK).tolist() == [[3.0, -1.0], [0.0, 0.0]]


def test_attention_is_over_real_tokens_and_zero_when_there_are_none() -> None:
    weights = masked_softmax(torch.tensor([[0.0, 0.0, 50.0], [1.0, 2.0, 3.0]]), MASK)
    assert weights.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]


def test_gradients_do_not_flow_into_padding() -> None:
    for pooling in (masked_mean, masked_max):
        states = STATES.clone().requires_grad_()
        pooling(states, MASK).sum().backward()
        assert states.grad is not None
        assert states.grad[0, 2].tolist() == [0.0, 0.0]
        assert not states.grad[1].any()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_stays_finite_and_means_are_summed_in_full(dtype: torch.dtype) -> None:
    assert masked_max(STATES.to(dtype), MASK).isfinite().all()
    many = torch.ones(1, 5000, 1, dtype=dtype)
    assert masked_mean(many, torch.ones(1, 5000, dtype=torch.long)).item() == 1.0


def test_pool_takes_the_mean_or_the_first_token_and_nothing_of_an_empty_text() -> None:
    assert pool(STATES, MASK, "mean").tolist() == [[2.0, -3.0], [0.0, 0.0]]
    assert pool(STATES, MASK, "cls").tolist() == [[1.0, -5.0], [0.0, 0.0]]
    with pytest.raises(AllearsError, match="unknown pooling 'median'; use 'mean' or 'cls'"):
        pool(STATES, MASK, "median")


def test_an_empty_persona_does_not_halve_the_query() -> None:
    context = torch.tensor([[2.0, 4.0], [2.0, 4.0]])
    persona = torch.tensor([[4.0, 0.0], [0.0, 0.0]])
    assert mean_query(context, persona).tolist() == [[3.0, 2.0], [2.0, 4.0]]


def test_dot_scores_are_the_same_for_shared_and_own_candidates() -> None:
    query, candidates = torch.randn(3, 4), torch.randn(1, 5, 4)
    torch.testing.assert_close(dot_scores(query, candidates.expand(3, -1, -1)), dot_scores(query, candidates))
