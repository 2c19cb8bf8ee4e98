"""CoBERT's score of one query against many candidates, arranged for speed: what `allears export` writes out.

The same equations as `cobert.py` (there for B contexts at once, with gradients). Here one side, the context
or the persona, comes alone and without padding, so that its masks fall away and every equation is one
matrix product over all candidates. The score of a query is the sum over its sides.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.models.selection.bi_encoder import BiEncoder
from allears.models.selection.cobert import CoBERT
from allears.runtime.bundle import SideWeights


class Ranker(nn.Module):
    """Scores [C] of one side X [m, d] with candidates Y [C, n, d].

    `weights` [hops + 1] are the side's `SideWeights`: one per hop, and that of the whole vectors.
    """

    def __init__(self, model: CoBERT):
        super().__init__()
        self.hops, self.poolings, self.similarity = model.hops, model.poolings, model.similarity
        self.temperature = temperature(model)

    def forward(
        self,
        states: Tensor,
        vector: Tensor,
        weights: Tensor,
        candidates: Tensor,
        mask: Tensor,
        vectors: Tensor,
    ) -> Tensor:
        X, Y = states, candidates
        real = mask.to(Y.dtype)  # [C, n]
        hidden = (1 - real) * -1e30  # added where padding must not win
        share = (real / real.sum(-1, keepdim=True)).unsqueeze(1)  # [C, 1, n]: the mean over real tokens
        affinity = Y @ X.T / self.temperature  # (1), transposed: [C, n, m]
        Y2X = affinity.softmax(-1)  # (3)
        X2Y = (affinity.transpose(1, 2) + hidden.unsqueeze(1)).softmax(-1)  # (2): [C, m, n]
        scores = (vectors @ vector) * weights[len(self.hops)]
        for position, hop in enumerate(self.hops):
            if hop == 1:
                x, y = self._pool(X2Y @ Y, Y2X @ X, hidden, share)  # X' [C, m, d] and Y' [C, n, d]
            else:
                over_right, over_left = X2Y.mean(1, keepdim=True), share @ Y2X  # [C, 1, n] and [C, 1, m]
                for _ in range(hop - 1):
                    over_left, over_right = over_right @ Y2X, over_left @ X2Y  # (4) and (5)
                x, y = (over_left @ X).squeeze(1), (over_right @ Y).squeeze(1)  # X'' and Y''
            match = F.cosine_similarity(x, y, dim=-1) if self.similarity == "cosine" else (x * y).sum(-1)
            scores = scores + match * weights[position]
        return scores

    def _pool(self, x: Tensor, y: Tensor, hidden: Tensor, share: Tensor) -> tuple[Tensor, Tensor]:
        pooled_x, pooled_y = [], []
        for pooling in self.poolings:
            if pooling == "max":
                pooled_x.append(x.amax(1))
                pooled_y.append((y + hidden.unsqueeze(-1)).amax(1))
            else:
                pooled_x.append(x.mean(1))
                pooled_y.append((share @ y).squeeze(1))
        return torch.cat(pooled_x, -1), torch.cat(pooled_y, -1)


def temperature(model: CoBERT) -> float:
    """What the affinity is divided by."""
    return model.log_temperature.exp().item() if model.temperature is None else model.temperature


def side_weights(model: BiEncoder | CoBERT) -> SideWeights:
    """The learned scales, or ones where the model compares by plain dot products."""
    if isinstance(model, BiEncoder):
        scale = model.log_scale.exp().item() if model.similarity == "cosine" else 1.0
        own = model.persona_log_scale
        return SideWeights((scale,), (scale if own is None else own.exp().item(),))
    sides = []
    for hop_scales, pooled_scale in (
        ("context_log_scales", "pooled_log_scale"),
        ("persona_log_scales", "persona_pooled_log_scale"),
    ):
        hops = [1.0] * len(model.hops)
        if model.similarity == "cosine":
            hops = getattr(model, hop_scales).exp().tolist()
        pooled = getattr(model, pooled_scale).exp().item() if model.pooled else 0.0
        sides.append((*hops, pooled))
    return SideWeights(*sides)
