"""Models that search in two stages: one vector finds the nearest candidates, the whole model ranks them.

The index sees only this protocol. The ONNX runtime speaks it by itself; `two_stage_torch.py` speaks it for a
Bi-encoder or CoBERT on torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from allears.runtime.bundle import SideWeights
from allears.runtime.selector import CandidateStates, Indices, Query, Scores

Floats = npt.NDArray[np.float32]


class TwoStage(Protocol):
    """What the index asks of a model."""

    fingerprint: str

    def encode_responses(self, texts: Sequence[str]) -> CandidateStates: ...

    def encode_queries(self, queries: Sequence[Query]) -> Any:
        """Something with `vectors` [B, d] for the first stage, to be handed to `rank` for the second."""
        ...

    def rank(self, queries: Any, candidates: CandidateStates, chosen: Indices) -> Scores: ...


def two_stage(selector: Any) -> TwoStage:
    """Any selector that can search in two stages, as a `TwoStage`: itself, or what its `two_stage()` gives."""
    found: TwoStage = selector if hasattr(selector, "rank") else selector.two_stage()
    return found


def first_stage_vectors(contexts: Floats, personas: Floats, weights: SideWeights) -> Floats:
    """[B, d]: the query whose product with a candidate's vector is the first stage's score.

    The part of the model's own score that comes from whole vectors, where it has one. A model without such a
    part (CoBERT as in the paper) is searched by the mean of context and persona. A missing persona is zeros.
    """
    context, persona = weights.context[-1], weights.persona[-1]
    pooled = len(weights.context) > 1 and context > 0  # CoBERT with `pooled`
    if pooled or context != persona:  # or a Bi-encoder whose persona has a scale of its own
        return context * contexts + persona * personas
    known = personas.any(-1, keepdims=True)
    mean: Floats = ((contexts + personas) / (1 + known.astype(np.float32))).astype(np.float32)
    return mean * (context or 1.0)
