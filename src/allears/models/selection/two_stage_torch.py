"""A Bi-encoder or CoBERT on torch, as the index sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from allears.errors import AllearsError
from allears.models.selection.bi_encoder import BiEncoder
from allears.models.selection.cobert import CoBERT
from allears.models.selection.ranker import side_weights
from allears.nn.inputs import Encoded, Inputs
from allears.nn.pooling import masked_mean
from allears.runtime.features import persona_tokens, query_tokens
from allears.runtime.selector import CandidateStates, Indices, Query, Scores
from allears.runtime.two_stage import Floats, first_stage_vectors
from allears.text.layout import Tokens

if TYPE_CHECKING:
    from allears.models.selection.saved import TorchSelector


@dataclass(frozen=True, slots=True)
class TorchQueries:
    """Queries encoded once for both stages."""

    context: Encoded
    persona: Encoded | None
    vectors: Floats


class TorchTwoStage:
    """A `TorchSelector` as a `TwoStage`: its padded encodings become `CandidateStates`, and back."""

    def __init__(self, selector: TorchSelector):
        if not isinstance(selector.model, BiEncoder | CoBERT):
            raise AllearsError(
                f"a {selector.card.name} has no vector to search an index by; use a bi_encoder or a cobert"
            )
        self.selector, self.model = selector, selector.model
        self.fingerprint = selector.fingerprint
        self.weights = side_weights(self.model)

    @torch.inference_mode()
    def encode_responses(self, texts: Sequence[str]) -> CandidateStates:
        encoded = self.selector.encode_responses(texts)
        vectors = _vectors(encoded)
        if encoded.states is None or encoded.mask is None:
            nothing = np.empty((0, vectors.shape[-1]), np.float16)
            return CandidateStates(vectors, nothing, np.zeros(len(texts) + 1, np.int64))
        real = encoded.mask.bool()
        offsets = np.concatenate([[0], np.cumsum(real.sum(-1).cpu().numpy())])
        return CandidateStates(vectors, encoded.states[real].half().cpu().numpy(), offsets)

    @torch.inference_mode()
    def encode_queries(self, queries: Sequence[Query]) -> TorchQueries:
        model, tokenizer, limits = self.model, self.selector.tokenizer, self.selector.card.limits
        context = model.encode_context(self._inputs(query_tokens(queries, tokenizer, limits, nested=False)))
        tokens = persona_tokens(queries, tokenizer, limits, nested=False)
        persona = None if tokens is None else model.encode_persona(self._inputs(tokens))
        own = _vectors(context)
        about = np.zeros_like(own) if persona is None else _vectors(persona)
        return TorchQueries(context, persona, first_stage_vectors(own, about, self.weights))

    @torch.inference_mode()
    def rank(self, queries: TorchQueries, candidates: CandidateStates, chosen: Indices) -> Scores:
        scores = np.zeros(chosen.shape, np.float32)
        for row, wanted in enumerate(chosen):
            one = slice(row, row + 1)
            persona = None if queries.persona is None else queries.persona[one]
            response = self._encoded(candidates, wanted)
            scores[row] = self.model.score(queries.context[one], persona, response)[0].float().cpu()
        return scores

    def _encoded(self, candidates: CandidateStates, wanted: Indices) -> Encoded:
        """[1, C, ...], on the model's device."""
        vector = self._tensor(np.asarray(candidates.vectors[wanted], np.float32))
        if not len(candidates.states):
            return Encoded(vector=vector)
        states, mask = (self._tensor(array) for array in candidates.padded(wanted))
        return Encoded(vector=vector, states=states, mask=mask)

    def _tensor(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(array).to(self.selector.device)[None]

    def _inputs(self, tokens: Tokens) -> Inputs:
        return Inputs.from_tokens(tokens).to(self.selector.device)


def _vectors(encoded: Encoded) -> Floats:
    """The model's own vectors; for CoBERT without `pooled`, the direction of the mean state."""
    vector = encoded.vector
    if vector is None:
        assert encoded.states is not None
        assert encoded.mask is not None
        vector = F.normalize(masked_mean(encoded.states, encoded.mask), dim=-1)
    found: Floats = vector.float().cpu().numpy()
    return found
