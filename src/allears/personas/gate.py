"""Persona or not: where the gate's threshold lies, and how good its answers are. No torch here."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]


def f1(said: Mask, gold: Mask) -> float:
    """F1 of "tells something", as a percentage; 0 where nothing is right."""
    both = int((said & gold).sum())
    return 200.0 * both / int(said.sum() + gold.sum()) if both else 0.0


def fit_threshold(likely: npt.NDArray[np.float64], gold: Mask) -> float:
    """The threshold with the best F1: midway between the two probabilities it parts."""
    order = np.argsort(-likely, kind="stable")
    sorted_likely, hits = likely[order], np.cumsum(gold[order])
    said = np.arange(1, len(order) + 1)
    scores = 2 * hits / (said + gold.sum())
    # between equal probabilities there is no threshold
    possible = np.append(sorted_likely[:-1] > sorted_likely[1:], True)
    best = int(np.argmax(np.where(possible, scores, -1.0)))
    after = sorted_likely[best + 1] if best + 1 < len(order) else 0.0
    return float((sorted_likely[best] + after) / 2)
