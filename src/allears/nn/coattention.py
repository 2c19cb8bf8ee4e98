"""Co-attention between two token sequences, hop by hop (PEC sections 4.3 and 4.4).

For one context X [m, d] and one response Y [n, d] the paper computes

    A    = X Yᵀ                                  (1)   word-word affinity
    X2Y  = softmax(A),  Y2X = softmax(Aᵀ)        (2, 3)
    X'   = X2Y Y,       Y'  = Y2X X              hop 1, pooled over the sequence
    A_X' = mean(X2Y) Y2X,  A_Y' = mean(Y2X) X2Y  (4, 5)
    X''  = A_X' X,      Y'' = A_Y' Y             hop 2

Here the same is done for B contexts against C candidates at once. Nothing is repeated per candidate: shared
candidates stay [C, n, d], and the only large tensor is hop 1's [B, C, m, d], which callers bound by
scoring candidates in chunks. It is made once and read once, by its maximum; masks are applied to the
attentions, which are a tenth of its size.
"""

from __future__ import annotations

import torch
from torch import Tensor

from allears.nn.pooling import highest

Attention = tuple[Tensor, Tensor]  # X2Y [B, C, m, n] and Y2X [B, C, n, m]


def co_attend(
    left: Tensor, left_mask: Tensor, right: Tensor, right_mask: Tensor, *, temperature: float | Tensor = 1.0
) -> Attention:
    """Equations 1 to 3. left [B, m, d], right [B or 1, C, n, d].

    Nothing attends to padding, unless there is nothing else: the hops leave empty texts out.
    """
    words = right.flatten(1, 2)  # [B or 1, C·n, d]: one matrix product for all candidates
    affinity = words @ (left / temperature).transpose(-1, -2)  # Aᵀ: [B, C·n, m]
    affinity = affinity.unflatten(1, right.shape[1:3])  # [B, C, n, m]
    lowest = torch.finfo(affinity.dtype).min
    left_to_right = affinity.masked_fill(right_mask[..., None] == 0, lowest).softmax(-2).transpose(-1, -2)
    right_to_left = affinity.masked_fill(left_mask[:, None, None] == 0, lowest).softmax(-1)
    return left_to_right, right_to_left


def first_hop(
    left: Tensor,
    left_mask: Tensor,
    right: Tensor,
    right_mask: Tensor,
    attention: Attention,
    poolings: tuple[str, ...] = ("max",),
) -> tuple[Tensor, Tensor]:
    """X' and Y', pooled: two tensors [B, C, d * len(poolings)]."""
    left_to_right, right_to_left = attention
    pooled_left, pooled_right = [], []
    for pooling in poolings:
        if pooling == "mean":  # the mean of X2Y Y is mean(X2Y) Y
            over_right, over_left = mean_attention(left_mask, right_mask, attention)
            pooled_left.append(_read_right(over_right, right).squeeze(-2))
            pooled_right.append(_read_left(over_left, left).squeeze(-2))
        else:
            # Padding attends as the first token does, so that it can neither raise a maximum nor lower it.
            from_left = torch.where(
                left_mask[:, None, :, None].bool(), left_to_right, left_to_right[:, :, :1]
            )
            from_right = torch.where(right_mask[..., None].bool(), right_to_left, right_to_left[:, :, :1])
            pooled_left.append(highest(_read_right(from_left, right)))
            pooled_right.append(highest(_read_left(from_right, left)))
    real = _both_real(left_mask, right_mask)
    return torch.cat(pooled_left, -1) * real, torch.cat(pooled_right, -1) * real


def later_hop(
    left: Tensor,
    left_mask: Tensor,
    right: Tensor,
    right_mask: Tensor,
    attention: Attention,
    hop: int = 2,
) -> tuple[Tensor, Tensor]:
    """X'' and Y'' (equations 4 and 5; hop 3 attends once more over those attentions): two [B, C, d]."""
    left_to_right, right_to_left = attention
    over_right, over_left = mean_attention(left_mask, right_mask, attention)
    for _ in range(hop - 1):
        over_left, over_right = over_right @ right_to_left, over_left @ left_to_right
    real = _both_real(left_mask, right_mask)
    return _read_left(over_left, left).squeeze(-2) * real, _read_right(over_right, right).squeeze(-2) * real


def mean_attention(left_mask: Tensor, right_mask: Tensor, attention: Attention) -> Attention:
    """mean(X2Y) and mean(Y2X) over the real tokens that attend: [B, C, 1, n] and [B, C, 1, m]."""
    left_to_right, right_to_left = attention
    left_share, right_share = (
        mask / mask.sum(-1, keepdim=True).clamp(min=1) for mask in (left_mask, right_mask)
    )
    # as matrix products: B·C rows of weights instead of a weighted copy of the attentions
    return left_share[:, None, None] @ left_to_right, right_share[:, :, None] @ right_to_left


def _both_real(left_mask: Tensor, right_mask: Tensor) -> Tensor:
    """[B, C, 1]: false where one of the two texts is empty."""
    return (left_mask.any(-1)[:, None] & right_mask.any(-1)).unsqueeze(-1)


def _read_left(weights: Tensor, left: Tensor) -> Tensor:
    """weights [B, C, k, m] over the tokens of left [B, m, d]: [B, C, k, d]."""
    read = weights.flatten(1, 2) @ left  # one matrix product for all candidates
    return read.unflatten(1, weights.shape[1:3])


def _read_right(weights: Tensor, right: Tensor) -> Tensor:
    """weights [B, C, k, n] over the tokens of right [B or 1, C, n, d]: [B, C, k, d]."""
    if len(right) == len(weights):
        return weights @ right
    return torch.einsum("bckn,cnd->bckd", weights, right[0])  # shared candidates are not repeated
