"""Scoring candidates a few at a time, where every context-candidate pair needs a large tensor of its own."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from allears.nn.inputs import Encoded

Score = Callable[[Encoded, Encoded | None, Encoded], Tensor]


def score_in_chunks(
    score: Score, context: Encoded, persona: Encoded | None, response: Encoded, *, pairs: int
) -> Tensor:
    """[B, C] scores, with at most about `pairs` pairs of 128 tokens compared at once.

    While training, only the scores are kept; the large tensors are made again in the backward pass.
    """
    batch = len(context.tensors()[0])
    candidates = response.tensors()[0].shape[1]
    # longer inputs make larger tensors per pair, so fewer pairs go together
    step = max(1, pairs * 128 // (batch * max(1, _tokens(context) + _tokens(persona))))
    if step >= candidates:
        return score(context, persona, response)
    chunks = []
    for start in range(0, candidates, step):
        chunk = response[:, start : start + step]
        if torch.is_grad_enabled():
            chunks.append(checkpoint(score, context, persona, chunk, use_reentrant=False))
        else:
            chunks.append(score(context, persona, chunk))
    return torch.cat(chunks, 1)


def _tokens(side: Encoded | None) -> int:
    """How many token positions one row of this side has, padding and all."""
    if side is None:
        return 0
    mask = side.mask if side.mask is not None else side.inputs.mask
    return mask[0].numel()
