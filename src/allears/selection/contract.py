"""What every response-selection model is: three encoders and a score.

The encoders run apart, so candidates can be encoded once and kept. `score` compares every context with its
candidates. A model file imports `nn` and this contract, nothing of training.

Shapes. `context` and `persona` have leading dimension [B]. `response` has leading dimensions [B, C] (each
context has its own C candidates) or [1, C] (all contexts share them, as with in-batch negatives).
The score is always [B, C].
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor

from allears.nn.inputs import Encoded, Inputs


@runtime_checkable
class SelectionModel(Protocol):
    nested_context: bool  # context comes as [B, utterances, L] instead of one flat sequence [B, L]
    nested_persona: bool  # persona comes as [B, sentences, L] instead of one flat sequence [B, L]

    def encode_context(self, inputs: Inputs) -> Encoded: ...

    def encode_persona(self, inputs: Inputs) -> Encoded: ...

    def encode_response(self, inputs: Inputs) -> Encoded: ...

    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor: ...
