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
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.models.selection.on_encoders import OnVectors
from allears.nn.encoder import Encoder
from allears.nn.inputs import Encoded
from allears.nn.similarity import dot_scores, mean_query


class BiEncoder(OnVectors):
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
        super().__init__(encoder, separate=separate, pooling=pooling, similarity=similarity)
        if similarity == "cosine":
            self.log_scale = nn.Parameter(torch.tensor(math.log(scale)))
        self.persona_log_scale: nn.Parameter | None = None
        if persona_scale:
            if similarity != "cosine":
                raise AllearsError(
                    "persona_scale is for similarity = 'cosine'; a dot product learns it by itself"
                )
            self.persona_log_scale = nn.Parameter(torch.tensor(math.log(persona_scale)))

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
