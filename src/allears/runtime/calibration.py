"""Temperatures that make a head's probabilities mean what they say (Guo et al. 2017).

Dividing logits by one number leaves every prediction as it is and changes only how sure it is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

COLDEST, HOTTEST = 0.05, 20.0
_GOLDEN = (np.sqrt(5.0) - 1) / 2


def probabilities(logits: npt.ArrayLike, *, temperature: float = 1.0, multi_label: bool = False) -> Values:
    """[N, labels]: a softmax, or for several labels at once a sigmoid of each."""
    scaled = np.asarray(logits, np.float64) / temperature
    if multi_label:
        return np.asarray(np.exp(-np.logaddexp(0.0, -scaled)), np.float64)
    raised = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True), np.float64)


def negative_log_likelihood(
    logits: npt.ArrayLike, gold: npt.ArrayLike, *, temperature: float = 1.0, multi_label: bool = False
) -> float:
    """The mean over examples. `gold` is a mask [N, labels]."""
    scaled, true = np.asarray(logits, np.float64) / temperature, np.asarray(gold, np.bool_)
    if multi_label:
        return float(np.logaddexp(0.0, np.where(true, -scaled, scaled)).sum(axis=1).mean())
    highest = scaled.max(axis=1, keepdims=True)
    total = highest[:, 0] + np.log(np.exp(scaled - highest).sum(axis=1))
    return float((total - scaled[true]).mean())


def fit_temperature(logits: npt.ArrayLike, gold: npt.ArrayLike, *, multi_label: bool = False) -> float:
    """The temperature with the highest likelihood on held-out examples, by golden-section search.

    The likelihood has one peak in the inverse temperature, so the search cannot be caught elsewhere.
    """

    def cost(log_temperature: float) -> float:
        return negative_log_likelihood(
            logits, gold, temperature=float(np.exp(log_temperature)), multi_label=multi_label
        )

    low, high = float(np.log(COLDEST)), float(np.log(HOTTEST))
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    cost_left, cost_right = cost(left), cost(right)
    while high - low > 1e-4:
        if cost_left <= cost_right:
            high, right, cost_right = right, left, cost_left
            left = high - _GOLDEN * (high - low)
            cost_left = cost(left)
        else:
            low, left, cost_left = left, right, cost_right
            right = low + _GOLDEN * (high - low)
            cost_right = cost(right)
    return float(np.exp((low + high) / 2))
