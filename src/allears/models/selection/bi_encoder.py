"""Bi-encoder (Humeau et al. 2020), a Tri-encoder once there is a persona (PEC section 5.1).

Context, persona and response are each encoded to one vector; the score is
response · mean(context, persona). `similarity="cosine"` compares directions and learns the scale, which is
how small sentence encoders are pre-trained; `"dot"` is the paper's plain dot product.

A dot product can learn that a persona matters less than the context: its vectors become shorter. Directions cannot,
and a persona that counts as much as the context costs R@1 (docs/models/bi_encoder.md). `persona_scale` therefore gives
the persona a learned scale of its own, which starts there: score = scale response · context + persona_scale response
· persona. 0 is the paper's mean.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.models.selection.contract import SelectionModel
from allears.nn.encoder import Encoder, own_encoders
from allears.nn.inputs import Encoded, Inputs
from allears.nn.pooling import pool
from allears.nn.similarity import dot_scores, known_similarity, mean_query


class BiEncoder(SelectionModel):
    nested_context = False
    nested_persona = False

    def __init__(
        self,
        encoder: Encoder,
        *,
        separate: bool = False,
        pooling: str = "mean",
        similarity: str = "cosine",
        scale: float = 20.0,
        persona_scale: float = 0.0,
    ):
        super().__init__()
        # the context's encoder, and everybody's unless `separate` gives persona and response their own
        self.encoder = encoder
        self.encoder_persona, self.encoder_response = own_encoders(encoder, separate=separate)
        self.pooling, self.similarity = pooling, known_similarity(similarity)
        if similarity == "cosine":
            self.log_scale = nn.Parameter(torch.tensor(math.log(scale)))
        self.persona_log_scale: nn.Parameter | None = None
        if persona_scale:
            if similarity != "cosine":
                raise AllearsError(
                    "persona_scale is for similarity = 'cosine'; a dot product learns it by itself"
                )
            self.persona_log_scale = nn.Parameter(torch.tensor(math.log(persona_scale)))

    def _vector(self, encoder: Encoder, inputs: Inputs) -> Encoded:
        vector = pool(encoder(inputs), inputs.mask, self.pooling)  # [..., d]
        return Encoded(vector=F.normalize(vector, dim=-1) if self.similarity == "cosine" else vector)

    def encode_context(self, inputs: Inputs) -> Encoded:
        return self._vector(self.encoder, inputs)

    def encode_persona(self, inputs: Inputs) -> Encoded:
        return self._vector(self.encoder_persona or self.encoder, inputs)

    def encode_response(self, inputs: Inputs) -> Encoded:
        return self._vector(self.encoder_response or self.encoder, inputs)

    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        query = context.vector  # [B, d]
        if self.similarity != "cosine":
            query = query if persona is None else mean_query(query, persona.vector)
            return dot_scores(query, response.vector)
        if persona is None:
            query = query * self.log_scale.exp()
        elif self.persona_log_scale is None:
            query = mean_query(query, persona.vector) * self.log_scale.exp()
        else:
            query = query * self.log_scale.exp() + persona.vector * self.persona_log_scale.exp()
        return dot_scores(query, response.vector)
