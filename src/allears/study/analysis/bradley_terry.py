"""Bradley–Terry: one strength for each of many systems, from who was preferred to whom. A tie is half a win for both.

P(i is preferred to j) = s_i / (s_i + s_j), fitted by Hunter's (2004) MM steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from allears.study.blocks import TIE

STEPS, ENOUGH = 10_000, 1e-12
HALF = 0.5
CERTAIN = 1.959963984540054  # standard errors on each side of a 95% interval


@dataclass(frozen=True, slots=True)
class Strength:
    """`value`: the logarithm of a system's strength; all of them sum to zero. With its 95% interval."""

    system: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """Strongest first. `smoothed`: somebody won or lost everything, so half a win each way was added to every pair."""

    strengths: tuple[Strength, ...]
    smoothed: bool = False


def bradley_terry(results: Iterable[tuple[str, str, str]]) -> Ranking | None:
    """From (one, other, the better one or "tie"). None where systems cannot be compared: nothing connects them."""
    rows = list(results)
    names = sorted({name for one, other, _ in rows for name in (one, other)})
    place = {name: number for number, name in enumerate(names)}
    wins = np.zeros((len(names), len(names)))
    for one, other, better in rows:
        for name, against in ((one, other), (other, one)):
            wins[place[name], place[against]] += 1.0 if better == name else HALF if better == TIE else 0.0
    met = wins + wins.T
    if len(names) < 2 or connected_components(met, directed=False)[0] > 1:
        return None
    smoothed = connected_components(wins, directed=True, connection="strong")[0] > 1
    if smoothed:
        wins = wins + HALF * (met > 0)
        met = wins + wins.T
    strength = np.ones(len(names))
    for _ in range(STEPS):
        new = wins.sum(axis=1) / (met / (strength[:, None] + strength[None])).sum(axis=1)
        new /= np.exp(np.log(new).mean())
        done = np.abs(np.log(new) - np.log(strength)).max() < ENOUGH
        strength = new
        if done:
            break
    share = strength[:, None] / (strength[:, None] + strength[None])
    weight = met * share * (1 - share)
    information = np.diag(weight.sum(axis=1)) - weight  # of the logarithms, which sum to zero
    error = np.sqrt(np.diag(np.linalg.pinv(information)))
    found = [
        Strength(name, value, value - CERTAIN * spread, value + CERTAIN * spread)
        for name, value, spread in zip(names, np.log(strength).tolist(), error.tolist(), strict=True)
    ]
    return Ranking(tuple(sorted(found, key=lambda each: (-each.value, each.system))), smoothed)
