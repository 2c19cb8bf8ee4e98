"""What fine-tuning changed, in few numbers: W = W₀ + B A, with A and B of a low rank (Hu et al. 2022).

A model is trained as a whole; its change from the weights it started with is then cut to its largest singular vectors.
For a sentence encoder that learned our tasks, rank 32 of 384 keeps what it learned (docs/export.md), so a new version
of a bundle stores a few megabytes beside the base that it shares with the last one.

Where few numbers must do, a cut loses much of what was learned. `train_at_rank` learns the change at its rank from the
beginning: cutting it then loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize


@dataclass(frozen=True, slots=True)
class LowRankChange:
    """How one weight [out, in] changed: `up` [out, rank] times `down` [rank, in]."""

    up: Tensor
    down: Tensor


def low_rank(change: Tensor, rank: int) -> LowRankChange:
    left, sizes, right = torch.linalg.svd(change.float(), full_matrices=False)
    root = sizes[:rank].sqrt()  # shared evenly, so that both round equally well
    return LowRankChange(left[:, :rank] * root, root[:, None] * right[:rank])


def back_to_base(tuned: nn.Module, base: nn.Module, rank: int) -> dict[str, LowRankChange]:
    """Give the linear layers of `tuned` the weights they have in `base`, in place; returns the changes by layer.

    Everything else (biases, norms, position vectors) stays as it was tuned.
    """
    others = dict(base.named_modules())
    changes: dict[str, LowRankChange] = {}
    for name, module in tuned.named_modules():
        other = others.get(name)
        if isinstance(module, nn.Linear) and isinstance(other, nn.Linear):
            change = module.weight.detach() - other.weight.detach()
            if bool(change.any()):
                changes[name] = low_rank(change, rank)
                module.weight.data.copy_(other.weight.data)
    return changes


class LowRankAddition(nn.Module):
    """What is learned beside a weight [out, in] that stays: W₀ + B A. B (`up`) begins as zeros, so W begins as W₀; or
    both as a change that was learned before."""

    def __init__(self, weight: Tensor, rank: int, learned: LowRankChange | None = None):
        super().__init__()
        outputs, inputs = weight.shape
        up = torch.zeros(outputs, rank) if learned is None else learned.up
        down = torch.empty(rank, inputs).uniform_(-1, 1) / inputs**0.5 if learned is None else learned.down
        self.up, self.down = nn.Parameter(up), nn.Parameter(down)

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.up @ self.down


def train_at_rank(model: nn.Module, rank: int, learned: Mapping[str, LowRankChange] | None = None) -> None:
    """From here on the linear layers of `model` learn a change of this rank, and its vectors (biases, norms) as before.
    `learned`: what some of them begin with, by name.

    All else stays as it is: the tables of an embedding are too large to be stored with a small change.
    """
    layers = {name: module for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    for parameter in model.parameters():
        parameter.requires_grad_(parameter.dim() < 2)
    for name, layer in layers.items():
        addition = LowRankAddition(layer.weight, min(rank, *layer.weight.shape), (learned or {}).get(name))
        parametrize.register_parametrization(layer, "weight", addition)


def plain_weights(model: nn.Module) -> dict[str, Tensor]:
    """The state of a model whose layers may learn at a rank, as that of a model like any other: W, not W₀, A and B."""
    plain: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        layer, inside, part = name.partition(".parametrizations.weight.")
        if not inside:
            plain[name] = tensor
        elif part == "original":
            weight = model.get_submodule(layer).weight
            assert isinstance(weight, Tensor)
            plain[f"{layer}.weight"] = weight.detach()
    return plain
