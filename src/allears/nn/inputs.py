"""What flows between batches and models: token tensors in, encodings between, scores out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Self

import torch
from torch import Tensor

from allears.text.layout import Tokens


class _TensorGroup:
    """Tensors that share their leading (batch) dimensions and are cut, moved and stacked together."""

    def map(self, function: Callable[[Tensor], Tensor]) -> Self:
        """The same group with `function` applied to every tensor in it."""
        changed = {}
        for item in fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if value is not None:
                value = value.map(function) if isinstance(value, _TensorGroup) else function(value)
            changed[item.name] = value
        return type(self)(**changed)

    def tensors(self) -> list[Tensor]:
        """Every tensor in the group, in the order of its fields."""
        found: list[Tensor] = []
        self.map(lambda tensor: found.append(tensor) or tensor)  # type: ignore[func-returns-value]
        return found

    def __getitem__(self, key) -> Self:
        return self.map(lambda tensor: tensor[key])

    def to(self, device: torch.device | str) -> Self:
        return self.map(lambda tensor: tensor.to(device, non_blocking=True))


@dataclass(frozen=True, slots=True)
class Inputs(_TensorGroup):
    """Padded token ids [..., L] with mask and segments. The torch twin of `text.layout.Tokens`."""

    ids: Tensor
    mask: Tensor
    segments: Tensor

    @classmethod
    def from_tokens(cls, tokens: Tokens) -> Inputs:
        return cls(*(torch.from_numpy(array) for array in (tokens.ids, tokens.mask, tokens.segments)))


@dataclass(frozen=True, slots=True)
class Encoded(_TensorGroup):
    """What an encoder made of a text. A model fills only what its score needs.

    - `vector` [..., d]: one vector for the whole text (Bi-encoder, the first stage of the index)
    - `states` [..., L, d] and `mask` [..., L]: one vector per token (CoBERT); models that keep more structure
      (several layers) put further dimensions between the batch and L
    - `inputs`: the tokens themselves, for the models that read text pairs together (the cross-encoder)
    """

    # None where a model has no use for it; typed as present, since a score reads what its own model filled
    vector: Tensor = None  # type: ignore[assignment]
    states: Tensor = None  # type: ignore[assignment]
    mask: Tensor = None  # type: ignore[assignment]
    inputs: Inputs = None  # type: ignore[assignment]


def stack(parts: Sequence[Encoded]) -> Encoded:
    """Several encodings of the same kind, one after another along the batch."""
    rows = zip(*(part.tensors() for part in parts), strict=True)
    joined = iter([torch.cat(group) for group in rows])
    return parts[0].map(lambda _: next(joined))
