"""How sure is a study to find what is there, and how many more ratings would it take? By the exact distributions."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isnan, sqrt

import numpy as np

from allears.study.analysis.means import stats

MOST = 1_000_000  # beyond that nobody rates


def paired_power(effect: float, pairs: int, alpha: float = 0.05) -> float:
    """Of a one-tailed paired t-test with Cohen's d of the differences."""
    if pairs < 2:
        return 0.0
    critical = stats.t.ppf(1 - alpha, pairs - 1)
    return float(stats.nct.sf(critical, pairs - 1, effect * sqrt(pairs)))


def group_power(effect: float, each: int, alpha: float = 0.05) -> float:
    """Of a one-tailed t-test between two groups of this size."""
    if each < 2:
        return 0.0
    freedom = 2 * each - 2
    critical = stats.t.ppf(1 - alpha, freedom)
    return float(stats.nct.sf(critical, freedom, effect * sqrt(each / 2)))


def sign_power(share: float, decisions: int, alpha: float = 0.05) -> float:
    """Of a two-sided sign test, where the better one wins this share of the decisions that are no ties."""
    if decisions < 1:
        return 0.0
    few = np.arange(decisions // 2 + 1)
    p_values = np.minimum(1.0, 2 * stats.binom.cdf(few, decisions, 0.5))
    rejected = few[p_values < alpha]
    if not len(rejected):
        return 0.0
    bound = int(rejected[-1])
    return float(
        stats.binom.cdf(bound, decisions, share) + stats.binom.sf(decisions - bound - 1, decisions, share)
    )


def pairs_needed(effect: float, power: float = 0.8, alpha: float = 0.05) -> int | None:
    """How many pairs a paired t-test needs. None: no effect, or more than anybody can rate."""
    return _smallest(lambda n: paired_power(abs(effect), n, alpha), power) if _is_effect(effect) else None


def groups_needed(effect: float, power: float = 0.8, alpha: float = 0.05) -> int | None:
    """How many in each of two groups."""
    return _smallest(lambda n: group_power(abs(effect), n, alpha), power) if _is_effect(effect) else None


def decisions_needed(share: float, power: float = 0.8, alpha: float = 0.05) -> int | None:
    """How many decisions that are no ties a sign test needs.

    Its power goes up in steps and a little down between them; this is the smallest number that has it.
    """
    if isnan(share) or abs(share - 0.5) < 1e-9:
        return None
    share = max(share, 1 - share)
    # the normal approximation says where to look
    z = stats.norm.ppf(1 - alpha / 2) / 2 + stats.norm.ppf(power) * sqrt(share * (1 - share))
    near = ceil((z / (share - 0.5)) ** 2)
    if near > MOST:
        return None
    first = max(1, near // 2 - 20)
    return next(n for n in range(first, 4 * near + 100) if sign_power(share, n, alpha) >= power)


def _is_effect(effect: float) -> bool:
    return not isnan(effect) and abs(effect) > 1e-9


def _smallest(power_at: Callable[[int], float], power: float) -> int | None:
    low, high = 1, 2
    while power_at(high) < power:
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    return high
