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
import torch.nn.functional as F
from torch import Tensor, nn

from allears.models.selection.contract import SelectionModel
from allears.nn.encoder import Encoder, own_encoders
from allears.nn.inputs import Encoded, Inputs
from allears.nn.pooling import masked_softmax, pool
from allears.nn.rows import encode_rows
from allears.nn.similarity import dot_scores, known_similarity


class MemNet(SelectionModel):
    nested_context = False
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
        super().__init__()
        # the context's encoder, and everybody's unless `separate` gives persona and response their own
        self.encoder = encoder
        self.encoder_persona, self.encoder_response = own_encoders(encoder, separate=separate)
        self.hops, self.pooling, self.similarity = hops, pooling, known_similarity(similarity)
        if similarity == "cosine":
            self.log_scale = nn.Parameter(torch.tensor(math.log(scale)))
            self.memory_log_scale = nn.Parameter(torch.tensor(math.log(scale)))

    def _pool(self, states: Tensor, mask: Tensor) -> Tensor:
        vector = pool(states, mask, self.pooling)
        return F.normalize(vector, dim=-1) if self.similarity == "cosine" else vector

    def encode_context(self, inputs: Inputs) -> Encoded:
        return Encoded(vector=self._pool(self.encoder(inputs), inputs.mask))  # q: [B, d]

    def encode_response(self, inputs: Inputs) -> Encoded:
        encoder = self.encoder_response or self.encoder
        return Encoded(vector=self._pool(encoder(inputs), inputs.mask))  # [..., d]

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
