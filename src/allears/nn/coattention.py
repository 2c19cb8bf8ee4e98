"""Co-attention between two token sequences, hop by hop (PEC sections 4.3 and 4.4).

For one context X [m, d] and one response Y [n, d] the paper computes

    A    = X Yᵀ                                  (1)   word-word affinity
    X2Y  = softmax(A),  Y2X = softmax(Aᵀ)        (2, 3)
    X'   = X2Y Y,       Y'  = Y2X X              hop 1, pooled over the sequence
    A_X' = mean(X2Y) Y2X,  A_Y' = mean(Y2X) X2Y  (4, 5)
    X''  = A_X' X,      Y'' = A_Y' Y             hop 2

Here the same is done for B contexts against C candidates at once. Nothing is repeated per candidate: shared
candidates stay [C, n, d], and the only large tensor is hop 1's [B, C, m, d], which callers bound by
scoring candidates in chunks.
"""

from __future__ import annotations

import torch
from torch import Tensor

from allears.nn.pooling import masked_max, masked_mean, masked_softmax


def co_attend(
    left: Tensor, left_mask: Tensor, right: Tensor, right_mask: Tensor, *, temperature: float | Tensor = 1.0
) -> tuple[Tensor, Tensor]:
    """Equations 1 to 3. left [B, m, d], right [B or 1, C, n, d]: X2Y [B, C, m, n] and Y2X [B, C, n, m]."""
    if len(right) == 1:
        affinity = torch.einsum("bmd,cnd->bcmn", left, right[0]) / temperature
    else:
        affinity = torch.einsum("bmd,bcnd->bcmn", left, right) / temperature
    left_to_right = masked_softmax(affinity, right_mask[:, :, None, :])
    right_to_left = masked_softmax(affinity.transpose(-1, -2), left_mask[:, None, None, :])
    return left_to_right, right_to_left


def first_hop(
    left: Tensor,
    left_mask: Tensor,
    right: Tensor,
    right_mask: Tensor,
    attention: tuple[Tensor, Tensor],
    poolings: tuple[str, ...] = ("max",),
) -> tuple[Tensor, Tensor]:
    """X' and Y', pooled: two tensors [B, C, d * len(poolings)]."""
    left_to_right, right_to_left = attention
    if len(right) == 1:
        attended_left = torch.einsum("bcmn,cnd->bcmd", left_to_right, right[0])
    else:
        attended_left = torch.einsum("bcmn,bcnd->bcmd", left_to_right, right)
    attended_right = torch.einsum("bcnm,bmd->bcnd", right_to_left, left)
    candidates = left_to_right.shape[1]
    left_real = left_mask[:, None].expand(-1, candidates, -1)
    right_real = right_mask.expand(len(left), -1, -1)
    pools = {"max": masked_max, "mean": masked_mean}
    return (
        torch.cat([pools[name](attended_left, left_real) for name in poolings], -1),
        torch.cat([pools[name](attended_right, right_real) for name in poolings], -1),
    )


def later_hop(
    left: Tensor,
    left_mask: Tensor,
    right: Tensor,
    right_mask: Tensor,
    attention: tuple[Tensor, Tensor],
    hop: int = 2,
) -> tuple[Tensor, Tensor]:
    """X'' and Y'' (equations 4 and 5; hop 3 attends once more over those attentions): two [B, C, d]."""
    left_to_right, right_to_left = attention
    # mean over the real positions of the first dimension: 1 × n and 1 × m
    over_right = masked_mean(left_to_right, left_mask[:, None].expand(-1, left_to_right.shape[1], -1))
    over_left = masked_mean(right_to_left, right_mask.expand(len(left), -1, -1))
    for _ in range(hop - 1):
        over_left, over_right = (
            torch.einsum("bcn,bcnm->bcm", over_right, right_to_left),
            torch.einsum("bcm,bcmn->bcn", over_left, left_to_right),
        )
    attended_left = torch.einsum("bcm,bmd->bcd", over_left, left)
    if len(right) == 1:
        attended_right = torch.einsum("bcn,cnd->bcd", over_right, right[0])
    else:
        attended_right = torch.einsum("bcn,bcnd->bcd", over_right, right)
    return attended_left, attended_right
