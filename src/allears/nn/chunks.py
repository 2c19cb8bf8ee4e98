"""Scoring candidates a few at a time, where every context-candidate pair needs a large tensor of its own."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from allears.nn.inputs import Encoded, length, narrow

Score = Callable[[Encoded, Encoded | None, Encoded], Tensor]
# On a CPU: so many candidates at a time that what is computed for them is still in its caches when read.
CACHED_CANDIDATES = 25


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
    on_cpu = response.tensors()[0].device.type == "cpu"  # a GPU would rather have few large steps
    if on_cpu and length(response) and not torch.is_grad_enabled():
        return _score_shortest_first(score, context, persona, response, step=min(step, CACHED_CANDIDATES))
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


def _score_shortest_first(
    score: Score, context: Encoded, persona: Encoded | None, response: Encoded, *, step: int
) -> Tensor:
    """Candidates of about the same length together: nobody is compared with much padding."""
    mask = response.mask if response.mask is not None else response.inputs.mask  # [B or 1, C, n]
    lengths = mask.sum(-1).amax(0)  # [C]
    order = lengths.argsort()
    parts = []
    for rows in order.split(step):
        longest = max(1, int(lengths[rows].amax()))
        parts.append(score(context, persona, narrow(response, longest)[:, rows]))
    return torch.cat(parts, 1)[:, order.argsort()]


def _tokens(side: Encoded | None) -> int:
    """How many token positions one row of this side has, padding and all."""
    if side is None:
        return 0
    mask = side.mask if side.mask is not None else side.inputs.mask
    return mask[0].numel()
