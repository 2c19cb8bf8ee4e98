"""Dot products between contexts and their candidates, whether the candidates are shared or not."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from allears.errors import AllearsError


def known_similarity(name: str) -> str:
    """The name itself, when it is one a model can compare by."""
    if name not in {"dot", "cosine"}:
        raise AllearsError(f"unknown similarity {name!r}; use 'dot' or 'cosine'")
    return name


def dot_scores(query: Tensor, candidates: Tensor) -> Tensor:
    """[B, d] with [B, C, d] or shared [1, C, d] gives [B, C], always in float32.

    Half precision would round close scores to ties, and ties lose ranks.
    """
    with torch.autocast(query.device.type, enabled=False):
        if len(candidates) == 1:  # one matrix product instead of B small ones
            return query.float() @ candidates[0].float().T
        return torch.einsum("bd,bcd->bc", query.float(), candidates.float())


class LinearScore(nn.Linear):
    """[..., d] to a score [...], in float32 as above. No bias: it would raise all candidates alike."""

    def __init__(self, size: int):
        super().__init__(size, 1, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        with torch.autocast(features.device.type, enabled=False):
            return super().forward(features.float()).squeeze(-1)


def mean_query(context: Tensor, persona: Tensor) -> Tensor:
    """The Tri-encoder's query, mean(context, persona): two [B, d] give [B, d].

    An empty persona is a zero vector and does not count: the mean of the context alone is the context.
    """
    known = persona.ne(0).any(-1, keepdim=True)
    return (context + persona) / (1 + known.to(context.dtype))
