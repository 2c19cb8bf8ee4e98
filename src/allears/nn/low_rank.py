"""What fine-tuning changed, in few numbers: W = W₀ + B A, with A and B of a low rank (Hu et al. 2022).

A model is trained as a whole; its change from the weights it started with is then cut to its largest singular vectors.
For a sentence encoder that learned our tasks, rank 32 of 384 keeps what it learned (docs/export.md), so a new version
of a bundle stores a few megabytes beside the base that it shares with the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Change:
    """How one weight [out, in] changed: `up` [out, rank] times `down` [rank, in]."""

    up: Tensor
    down: Tensor


def low_rank(change: Tensor, rank: int) -> Change:
    left, sizes, right = torch.linalg.svd(change.float(), full_matrices=False)
    root = sizes[:rank].sqrt()  # shared evenly, so that both round equally well
    return Change(left[:, :rank] * root, root[:, None] * right[:rank])


def back_to_base(tuned: nn.Module, base: nn.Module, rank: int) -> dict[str, Change]:
    """Give the linear layers of `tuned` the weights they have in `base`, in place; returns the changes by layer.

    Everything else (biases, norms, position vectors) stays as it was tuned.
    """
    others = dict(base.named_modules())
    changes: dict[str, Change] = {}
    for name, module in tuned.named_modules():
        other = others.get(name)
        if isinstance(module, nn.Linear) and isinstance(other, nn.Linear):
            change = module.weight.detach() - other.weight.detach()
            if bool(change.any()):
                changes[name] = low_rank(change, rank)
                module.weight.data.copy_(other.weight.data)
    return changes
