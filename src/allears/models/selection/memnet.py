"""BERT+MemNet (PEC section 5.4): a memory network (Sukhbaatar et al. 2015) that holds the persona.

As in Zhang et al. (2018), the context vector q looks up the persona-sentence vectors p_i and adds what it
finds to itself:

    q⁺ = q + Σ_i softmax_i(q · p_i) p_i           score = q⁺ · response

With several `hops`, q⁺ is the next query. Without a persona this is the Bi-encoder. `similarity="cosine"`
works on directions, with one learned scale for the look-up and one for the score; "dot" is the paper.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from allears.models.selection.on_encoders import OnVectors
from allears.nn.encoder import Encoder
from allears.nn.inputs import Encoded, Inputs
from allears.nn.pooling import masked_softmax
from allears.nn.rows import encode_rows
from allears.nn.similarity import dot_scores


class MemNet(OnVectors):
    nested_persona = True

    def __init__(
        self,
        encoder: Encoder,
        *,
        separate: bool = False,
        hops: int = 1,
        pooling: str = "mean",
        similarity: str = "cosine",
        scale: float = 20.0,
    ):
        super().__init__(encoder, separate=separate, pooling=pooling, similarity=similarity)
        self.hops = hops
        if similarity == "cosine":
            self.log_scale = nn.Parameter(torch.tensor(math.log(scale)))
            self.memory_log_scale = nn.Parameter(torch.tensor(math.log(scale)))

    def encode_persona(self, inputs: Inputs) -> Encoded:
        sentences = self._pool(encode_rows(self.encoder_persona or self.encoder, inputs), inputs.mask)
        return Encoded(states=sentences, mask=inputs.mask.any(-1))  # p: [B, S, d] and [B, S]

    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        cosine = self.similarity == "cosine"
        query = context.vector  # q: [B, d]
        if persona is not None:
            for _ in range(self.hops):
                found = torch.einsum("bd,bsd->bs", query, persona.states)
                if cosine:
                    found = found * self.memory_log_scale.exp()
                weights = masked_softmax(found, persona.mask)
                query = query + torch.einsum("bs,bsd->bd", weights, persona.states)
        scores = dot_scores(query, response.vector)
        return scores * self.log_scale.exp() if cosine else scores
