"""Poly-encoder (Humeau et al. 2020, section 4.4; with persona as in PEC section 5.1).

`codes` learned vectors c_1 ... c_m each attend over the context's token states h_1 ... h_N,

    y_i = Σ_j softmax_j(c_i · h_j) h_j

so a context is m vectors whatever the candidate. The candidate's vector y then attends over those m:

    y_ctxt = Σ_i softmax_i(y · y_i) y_i           score = y_ctxt · y

A persona is read the same way with codes of its own, and the two attended vectors are averaged.
`similarity="cosine"` compares directions with a learned scale, as in `bi_encoder.py`; "dot" is the paper.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from allears.models.selection.on_encoders import OnVectors
from allears.nn.chunks import score_in_chunks
from allears.nn.encoder import Encoder
from allears.nn.inputs import Encoded, Inputs
from allears.nn.pooling import masked_softmax


class PolyEncoder(OnVectors):
    def __init__(
        self,
        encoder: Encoder,
        *,
        separate: bool = False,
        codes: int = 128,
        pooling: str = "mean",
        similarity: str = "cosine",
        scale: float = 20.0,
        chunk_pairs: int = 262_144,
    ):
        super().__init__(encoder, separate=separate, pooling=pooling, similarity=similarity)
        self.chunk_pairs = chunk_pairs
        self.context_codes = nn.Parameter(torch.randn(codes, encoder.size) / math.sqrt(encoder.size))
        self.persona_codes = nn.Parameter(torch.randn(codes, encoder.size) / math.sqrt(encoder.size))
        if similarity == "cosine":
            self.log_scale = nn.Parameter(torch.tensor(math.log(scale)))

    def _attend(self, encoder: Encoder, codes: Tensor, inputs: Inputs) -> Encoded:
        states = encoder(inputs)  # h: [B, L, d]
        weights = masked_softmax(codes @ states.transpose(-1, -2), inputs.mask[:, None])  # [B, m, L]
        # an empty text has no vectors at all: its mask is zero for every code
        real = inputs.mask.any(-1, keepdim=True).expand(-1, len(codes))
        return Encoded(states=self._directions(weights @ states), mask=real)  # y_i: [B, m, d]

    def encode_context(self, inputs: Inputs) -> Encoded:
        return self._attend(self.encoder, self.context_codes, inputs)

    def encode_persona(self, inputs: Inputs) -> Encoded:
        return self._attend(self.encoder_persona or self.encoder, self.persona_codes, inputs)

    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        return score_in_chunks(self._score, context, persona, response, pairs=self.chunk_pairs)

    def _score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        scores = self._match(context, response)
        if persona is not None:
            known = persona.mask[:, :1].to(scores.dtype)  # [B, 1]
            scores = (scores + self._match(persona, response)) / (1 + known)
        return scores

    def _match(self, text: Encoded, response: Encoded) -> Tensor:
        """y_ctxt · y for every pair, [B, C]. Since y_ctxt is a weighted sum of the y_i, so is the score:
        Σ_i softmax_i(y · y_i) (y · y_i), and the [B, C, d] tensor of y_ctxt is never made."""
        vectors, candidates = text.states.float(), response.vector.float()
        with torch.autocast(vectors.device.type, enabled=False):  # half precision would round scores to ties
            if len(candidates) == 1:
                products = torch.einsum("bmd,cd->bcm", vectors, candidates[0])
            else:
                products = torch.einsum("bmd,bcd->bcm", vectors, candidates)
        if self.similarity == "cosine":
            products = products * self.log_scale.exp()
        return (products.softmax(-1) * products).sum(-1)
