"""Bi-encoder (Humeau et al. 2020), a Tri-encoder once there is a persona (PEC section 5.1).

Context, persona and response are each encoded to one vector; the score is
response · mean(context, persona). `similarity="cosine"` compares directions and learns the scale, which is
how small sentence encoders are pre-trained; `"dot"` is the paper's plain dot product.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.nn.encoder import Encoder
from allears.nn.inputs import Encoded, Inputs
from allears.nn.pooling import pool
from allears.nn.similarity import dot_scores, known_similarity, mean_query
from allears.selection.contract import SelectionModel


class BiEncoder(SelectionModel):
    nested_context = False
    nested_persona = False

    def __init__(
        self, encoder: Encoder, *, pooling: str = "mean", similarity: str = "cosine", scale: float = 20.0
    ):
        super().__init__()
        self.encoder = encoder
        self.pooling, self.similarity = pooling, known_similarity(similarity)
        if similarity == "cosine":
            self.log_scale = nn.Parameter(torch.tensor(math.log(scale)))

    def _vector(self, inputs: Inputs) -> Encoded:
        vector = pool(self.encoder(inputs), inputs.mask, self.pooling)  # [..., d]
        return Encoded(vector=F.normalize(vector, dim=-1) if self.similarity == "cosine" else vector)

    encode_context = encode_persona = encode_response = _vector

    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        query = context.vector  # [B, d]
        if persona is not None:
            query = mean_query(query, persona.vector)
        scores = dot_scores(query, response.vector)
        return scores * self.log_scale.exp() if self.similarity == "cosine" else scores
