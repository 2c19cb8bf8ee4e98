"""Masked pooling over a sequence dimension. Padding can never win a maximum or weigh in a mean."""

from __future__ import annotations

import torch
from torch import Tensor

from allears.errors import AllearsError


def masked_mean(states: Tensor, mask: Tensor) -> Tensor:
    """Mean over the real tokens: [..., L, d] and mask [..., L] give [..., d]; zero where nothing is real.

    Summed in float32, whatever the states are: a mean is what scores are made of.
    """
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(-2, dtype=torch.float32) / weights.sum(-2, dtype=torch.float32).clamp(min=1)


def masked_max(states: Tensor, mask: Tensor) -> Tensor:
    """Maximum over the real tokens, shapes as above; zero where nothing is real."""
    real = mask.unsqueeze(-1).bool()
    lowest = torch.finfo(states.dtype).min
    return highest(states.masked_fill(~real, lowest)).masked_fill(~real.any(-2), 0.0)


def highest(states: Tensor) -> Tensor:
    """Maximum over all tokens: [..., L, d] to [..., d]."""
    if not states.requires_grad:
        return states.amax(-2)  # twice as fast on a CPU, as it does not note where the maximum was
    # .amax would compare everything again in its backward pass; .max writes one place per maximum
    return states.max(-2).values


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Softmax over the real positions; all zeros (not NaN) where no position is real."""
    real = mask.bool()
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~real, lowest).softmax(dim) * real.to(scores.dtype)


def pool(states: Tensor, mask: Tensor, pooling: str) -> Tensor:
    """One vector per sequence, [..., L, d] to [..., d]: the "mean" of its tokens, or its first token, "cls".

    An empty sequence gives zeros either way, so that whoever averages or adds vectors can tell it is absent.
    """
    if pooling == "mean":
        return masked_mean(states, mask)
    if pooling == "cls":
        return states[..., 0, :] * mask[..., :1].to(states.dtype)
    raise AllearsError(f"unknown pooling {pooling!r}; use 'mean' or 'cls'")
