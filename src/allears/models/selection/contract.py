"""What every response-selection model is: three encoders and a score.

The encoders run apart, so candidates can be encoded once and kept. `score` compares every context with its
candidates. A model file imports `nn` and this contract, nothing of training.

Shapes. `context` and `persona` have leading dimension [B]. `response` has leading dimensions [B, C] (each
context has its own C candidates) or [1, C] (all contexts share them, as with in-batch negatives).
The score is always [B, C]. A row whose persona is all padding scores as if there were none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from torch import Tensor, nn

from allears.nn.inputs import Encoded, Inputs


class SelectionModel(nn.Module, ABC):
    """Only names and shapes: nothing is inherited but the promise to have them."""

    nested_context: bool  # context comes as [B, utterances, L] instead of one flat sequence [B, L]
    nested_persona: bool  # persona comes as [B, sentences, L] instead of one flat sequence [B, L]

    @abstractmethod
    def encode_context(self, inputs: Inputs) -> Encoded: ...

    @abstractmethod
    def encode_persona(self, inputs: Inputs) -> Encoded: ...

    @abstractmethod
    def encode_response(self, inputs: Inputs) -> Encoded: ...

    @abstractmethod
    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor: ...


@runtime_checkable
class ReadsSpelling(Protocol):
    """A model over words that also looks at their letters, so that it has to know how they are written."""

    def set_words(self, words: Sequence[str]) -> None:
        """`words[i]` has id i."""
        ...
