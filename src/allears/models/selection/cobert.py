"""CoBERT (Zhong et al. 2020, section 4): multi-hop co-attention between context, persona and response.

Every input is encoded apart, by one shared encoder. The score of a candidate is the dot product of the
persona-augmented context X_f and the response Y_f, both made of co-attended parts (equations 1 to 6):

    X_f = [X'_max ; X'' ; P'_max ; P'']      Y_f = [Y'_X,max ; Y''_X ; Y'_P,max ; Y''_P]

The ablations of the paper's Table 7 are constructor options: `hops` (1, 2 and 3, each on or off) and
`poolings` of hop 1 (max, mean or both). Equation 7 of the paper leaves out the logarithm; the loss used in
training is the cross-entropy its text describes.

Options beyond the paper, off by default (the defaults are the equations):
- `similarity="cosine"` compares the directions of each part and learns one scale per part. Small sentence
  encoders were pre-trained on directions; the raw dot product of max-pooled states starts out saturated.
- `temperature` divides the affinity of equation 1 (a float, or "learned").
- `separate=True` gives each of the three inputs an encoder of its own, all starting from the given one.
- `pooled=True` adds the Bi-encoder's score, so that one model serves both stages of the index.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.models.selection.on_encoders import OnEncoders
from allears.nn.chunks import score_in_chunks
from allears.nn.coattention import co_attend, first_hop, later_hop
from allears.nn.encoder import Encoder
from allears.nn.inputs import Encoded, Inputs
from allears.nn.pooling import masked_mean
from allears.nn.similarity import dot_scores, known_similarity


class CoBERT(OnEncoders):
    def __init__(
        self,
        encoder: Encoder,
        *,
        separate: bool = False,
        hops: tuple[int, ...] = (1, 2),
        poolings: tuple[str, ...] = ("max",),
        similarity: str = "dot",
        temperature: float | str = 1.0,
        pooled: bool = False,
        scale: float = 20.0,
        chunk_pairs: int = 16_384,
    ):
        super().__init__(encoder, separate=separate)
        self.hops, self.poolings = tuple(hops), tuple(poolings)
        if not self.hops or not set(self.hops) <= {1, 2, 3}:
            raise AllearsError(f"unknown hops {list(self.hops)}; use some of 1, 2 and 3")
        if not self.poolings or not set(self.poolings) <= {"max", "mean"}:
            raise AllearsError(f"unknown poolings {list(self.poolings)}; use 'max', 'mean' or both")
        self.similarity, self.pooled = known_similarity(similarity), pooled
        self.chunk_pairs = chunk_pairs  # how many context-candidate pairs are co-attended at a time
        self.temperature: float | None = None if temperature == "learned" else float(temperature)
        if self.temperature is None:
            self.log_temperature = nn.Parameter(torch.tensor(math.log(math.sqrt(encoder.size))))
        if similarity == "cosine":
            # one learned scale per part of the context and of the persona, shared evenly at the start
            self.context_log_scales = nn.Parameter(
                torch.full((len(self.hops),), math.log(scale / len(self.hops)))
            )
            self.persona_log_scales = nn.Parameter(
                torch.full((len(self.hops),), math.log(scale / 4 / len(self.hops)))
            )
        if pooled:
            self.pooled_log_scale = nn.Parameter(torch.tensor(math.log(scale)))
            self.persona_pooled_log_scale = nn.Parameter(torch.tensor(math.log(scale / 4)))

    def _encode(self, encoder: Encoder, inputs: Inputs) -> Encoded:
        states = encoder(inputs)  # X, P or Y: [..., L, d]
        if not self.pooled:
            return Encoded(states=states, mask=inputs.mask)
        vector = F.normalize(masked_mean(states, inputs.mask), dim=-1)
        return Encoded(states=states, mask=inputs.mask, vector=vector)

    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        return score_in_chunks(self._score, context, persona, response, pairs=self.chunk_pairs)

    def _score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        scores = self._match(context, response, "context")
        if persona is not None:
            scores = scores + self._match(persona, response, "persona")
        if self.pooled:
            scores = scores + dot_scores(context.vector, response.vector) * self.pooled_log_scale.exp()
            if persona is not None:
                scores = (
                    scores + dot_scores(persona.vector, response.vector) * self.persona_pooled_log_scale.exp()
                )
        return scores

    def _match(self, left: Encoded, right: Encoded, name: str) -> Tensor:
        """One side's share of equation 6: the dot product of a concatenation is the sum over its parts."""
        sides = (left.states, left.mask, right.states, right.mask)
        temperature = self.log_temperature.exp() if self.temperature is None else self.temperature
        attention = co_attend(*sides, temperature=temperature)
        parts: list[Tensor] = []
        for position, hop in enumerate(self.hops):
            if hop == 1:
                x, y = first_hop(*sides, attention, self.poolings)
            else:
                x, y = later_hop(*sides, attention, hop)
            if self.similarity == "cosine":
                scale = getattr(self, f"{name}_log_scales")[position].exp()
                parts.append(F.cosine_similarity(x.float(), y.float(), dim=-1) * scale)
            else:
                parts.append((x.float() * y.float()).sum(-1))
        return torch.stack(parts).sum(0)
