"""How alike two texts are, token by token, as BERTScore measures it (Zhang et al. 2020).

Every token of one text is matched with the token of the other whose vector is nearest, each side alone (greedy).
Without BERTScore's rescaling and word weights: good for comparing systems under one encoder, not across encoders.
"""

from __future__ import annotations

import numpy.typing as npt

from allears.metrics.directions import directions


def token_match(hypothesis: npt.ArrayLike, reference: npt.ArrayLike) -> float:
    """F1 of the greedy match of two texts' token vectors [n, d] and [m, d], as a percentage.

    Precision is the mean over the hypothesis's tokens of their best cosine in the reference; recall the other way
    round. A text without tokens matches nothing: 0.
    """
    mine, gold = (directions(text, "token vectors [tokens, size]") for text in (hypothesis, reference))
    if not len(mine) or not len(gold):
        return 0.0
    cosines = mine @ gold.T
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    return 200.0 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
