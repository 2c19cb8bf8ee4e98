"""What the models on a pretrained encoder have in common: who reads what, and how one text is encoded."""

from __future__ import annotations

from abc import abstractmethod

import torch.nn.functional as F
from torch import Tensor

from allears.models.selection.contract import SelectionModel
from allears.nn.encoder import Encoder, own_encoders
from allears.nn.inputs import Encoded, Inputs
from allears.nn.pooling import pool
from allears.nn.similarity import known_similarity


class OnEncoders(SelectionModel):
    """One encoder reads the context, and persona and response too, unless `separate` gives them their own.

    Context and persona are one flat sequence each, where a model does not say otherwise.
    """

    nested_context = False
    nested_persona = False

    def __init__(self, encoder: Encoder, *, separate: bool = False):
        super().__init__()
        self.encoder = encoder
        self.encoder_persona, self.encoder_response = own_encoders(encoder, separate=separate)

    @abstractmethod
    def _encode(self, encoder: Encoder, inputs: Inputs) -> Encoded:
        """What this model keeps of one text."""

    def encode_context(self, inputs: Inputs) -> Encoded:
        return self._encode(self.encoder, inputs)

    def encode_persona(self, inputs: Inputs) -> Encoded:
        return self._encode(self.encoder_persona or self.encoder, inputs)

    def encode_response(self, inputs: Inputs) -> Encoded:
        return self._encode(self.encoder_response or self.encoder, inputs)


class OnVectors(OnEncoders):
    """A text is one vector, pooled from its states; of length 1 where `similarity` is "cosine"."""

    def __init__(self, encoder: Encoder, *, separate: bool, pooling: str, similarity: str):
        super().__init__(encoder, separate=separate)
        self.pooling, self.similarity = pooling, known_similarity(similarity)

    def _directions(self, vectors: Tensor) -> Tensor:
        return F.normalize(vectors, dim=-1) if self.similarity == "cosine" else vectors

    def _pool(self, states: Tensor, mask: Tensor) -> Tensor:
        return self._directions(pool(states, mask, self.pooling))

    def _encode(self, encoder: Encoder, inputs: Inputs) -> Encoded:
        return Encoded(vector=self._pool(encoder(inputs), inputs.mask))  # [..., d]
