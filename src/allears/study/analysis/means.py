"""The papers' tests, by SciPy: means with their standard error, one-tailed t-tests, Holm's correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError

try:
    from scipy import stats
except ModuleNotFoundError as error:  # the light install has no SciPy
    raise AllearsError("the analysis of studies needs SciPy: pip install 'allears[study]'") from error

Values = npt.ArrayLike


@dataclass(frozen=True, slots=True)
class Mean:
    """`sem`: the standard error of the mean, s / sqrt(n) with s over n - 1."""

    value: float
    sem: float
    count: int


@dataclass(frozen=True, slots=True)
class TTest:
    """Is the first larger than the second? `p` is one-tailed. `effect` is Cohen's d: of the differences where paired,
    with the pooled deviation where not."""

    difference: float
    t: float
    freedom: float
    p: float
    effect: float
    paired: bool
    counts: tuple[int, int]


def mean_with_sem(values: Values) -> Mean:
    array = np.asarray(values, np.float64)
    if not len(array):
        return Mean(nan, nan, 0)
    sem = float(stats.sem(array)) if len(array) > 1 else nan
    return Mean(float(array.mean()), sem, len(array))


def paired_t_test(first: Values, second: Values) -> TTest:
    """One-tailed, on pairs (the same items). Equal in every pair: nothing speaks for a difference."""
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    differences = one - other
    counts = (len(one), len(other))
    deviation = float(differences.std(ddof=1)) if len(differences) > 1 else nan
    mean = float(differences.mean()) if len(differences) else nan
    if not deviation > 0:
        return TTest(mean, nan, max(len(one) - 1, 0), nan if mean else 1.0, nan, True, counts)
    found = stats.ttest_rel(one, other, alternative="greater")
    return TTest(
        mean, float(found.statistic), float(found.df), float(found.pvalue), mean / deviation, True, counts
    )


def welch_t_test(first: Values, second: Values) -> TTest:
    """One-tailed, on two groups whose variances may differ."""
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    counts = (len(one), len(other))
    difference = float(one.mean() - other.mean()) if min(counts) else nan
    if min(counts) < 2 or (one.var() == 0 and other.var() == 0):
        return TTest(difference, nan, nan, nan, nan, False, counts)
    found = stats.ttest_ind(one, other, equal_var=False, alternative="greater")
    spread = (one.var(ddof=1) * (len(one) - 1) + other.var(ddof=1) * (len(other) - 1)) / (sum(counts) - 2)
    return TTest(
        difference,
        float(found.statistic),
        float(found.df),
        float(found.pvalue),
        difference / sqrt(spread),
        False,
        counts,
    )


def compare(first: Mapping[str, float], second: Mapping[str, float]) -> TTest:
    """Paired where both have the same items, and two groups otherwise."""
    if set(first) == set(second) and len(first) > 1:
        names = sorted(first)
        return paired_t_test([first[name] for name in names], [second[name] for name in names])
    return welch_t_test(list(first.values()), list(second.values()))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction for several tests. NaN (no test) stays NaN and does not count."""
    tested = sorted((p, place) for place, p in enumerate(p_values) if not np.isnan(p))
    corrected = [nan] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(tested):
        largest = max(largest, min(1.0, p * (len(tested) - rank)))
        corrected[place] = largest
    return corrected
