"""What flows between batches and models: token tensors in, encodings between, scores out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import torch
import torch.nn.functional as F
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

    def __getitem__(self, key: Any) -> Self:
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

    def hiding(self, share: float) -> Inputs:
        """The same texts with this share of their tokens hidden, drawn anew; a text keeps its first."""
        if not share:
            return self
        seen = torch.rand(self.mask.shape, device=self.mask.device) >= share
        seen[..., 0] = True
        return Inputs(self.ids, self.mask * seen.to(self.mask.dtype), self.segments)


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


def length(encoded: Encoded) -> int:
    """How many token positions an encoding has, padding and all; 0 for one that is only a vector."""
    if encoded.mask is not None:
        return encoded.mask.shape[-1]
    return 0 if encoded.inputs is None else encoded.inputs.mask.shape[-1]


def widen(encoded: Encoded, longest: int) -> Encoded:
    """Pad the token dimension to `longest`: the last of the mask and the inputs, the last but one of the states."""
    more = longest - length(encoded)
    if more <= 0:
        return encoded
    return Encoded(
        vector=encoded.vector,
        states=None if encoded.states is None else F.pad(encoded.states, (0, 0, 0, more)),
        mask=None if encoded.mask is None else F.pad(encoded.mask, (0, more)),
        inputs=None if encoded.inputs is None else encoded.inputs.map(lambda t: F.pad(t, (0, more))),
    )


def narrow(encoded: Encoded, longest: int) -> Encoded:
    """Cut the token dimension to its first `longest` places; `widen` the other way round."""
    return Encoded(
        vector=encoded.vector,
        states=None if encoded.states is None else encoded.states[..., :longest, :],
        mask=None if encoded.mask is None else encoded.mask[..., :longest],
        inputs=None if encoded.inputs is None else encoded.inputs[..., :longest],
    )


def stack(parts: Sequence[Encoded]) -> Encoded:
    """Several encodings of the same kind, one after another along the batch, padded to the longest."""
    longest = max(map(length, parts))
    rows = zip(*(widen(part, longest).tensors() for part in parts), strict=True)
    joined = iter([torch.cat(group) for group in rows])
    return parts[0].map(lambda _: next(joined))
