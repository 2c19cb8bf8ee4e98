"""How sure a number is: bootstrap intervals, and paired tests of two models on the same examples.

Everything needs NumPy alone and is the same for the same seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

# Above this many different values, drawing positions is cheaper than drawing how often each value comes.
MANY_VALUES = 512
DRAWS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the bounds of its bootstrap confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of first - second over the same examples, its interval, and the two-sided p value."""

    value: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, slots=True)
class SignTest:
    """How often the first was better and how often the second (draws dropped), and the two-sided p value."""

    wins: int
    losses: int
    p_value: float


def bootstrap_interval(
    values: npt.ArrayLike, *, confidence: float = 0.95, samples: int = 2000, seed: int = 0
) -> Interval:
    """The mean of `values` and its percentile bootstrap interval.

    `samples` times, as many values as there are get drawn with replacement; the interval holds the middle
    `confidence` share of those samples' means.
    """
    array = _values(values)
    low, high = _middle(_resampled_means(array, samples, seed), confidence)
    return Interval(float(array.mean()), low, high)


def wilson_interval(hits: int, of: int, *, confidence: float = 0.95) -> Interval:
    """A share of counted things in percent, with Wilson's score interval: honest also at 0% and 100%.

    With nothing counted the share is 0 and the interval says that it could be anything.
    """
    if not 0 <= hits <= of:
        raise ValueError(f"{hits} hits of {of} is no share")
    if of == 0:
        return Interval(0.0, 0.0, 100.0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return Interval(100 * share, 100 * max(0.0, middle - half), 100 * min(1.0, middle + half))


def paired_bootstrap(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    samples: int = 10_000,
    seed: int = 0,
) -> Difference:
    """The mean difference of two models' scores on the same examples: interval and two-sided p value.

    Examples are drawn with replacement, both models' scores together. The p value is how often a sample's
    mean difference lies at least as far from the observed one as the observed one lies from zero, the
    observed sample counted in: (1 + #{|d* - d| >= |d|}) / (1 + samples).
    """
    differences = _differences(first, second)
    observed = float(differences.mean())
    means = _resampled_means(differences, samples, seed)
    # A hair of slack: the same difference summed in another order must count as equal.
    slack = 1e-9 * max(1.0, abs(observed))
    as_far = int((np.abs(means - observed) >= abs(observed) - slack).sum())
    low, high = _middle(means, confidence)
    return Difference(observed, low, high, (1 + as_far) / (1 + samples))


def sign_test(first: npt.ArrayLike, second: npt.ArrayLike) -> SignTest:
    """Exact two-sided sign test: is the first better than the second more often than a coin would say?

    Examples where both are equal are dropped.
    """
    differences = _differences(first, second)
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    return SignTest(wins, losses, _coin(wins, losses))


def mcnemar(first_right: npt.ArrayLike, second_right: npt.ArrayLike) -> SignTest:
    """McNemar's exact test on right/wrong answers: the sign test on examples that only one got right."""
    return sign_test(np.asarray(first_right, np.bool_), np.asarray(second_right, np.bool_))


def _coin(wins: int, losses: int) -> float:
    """P of a split at least as uneven from wins + losses throws of a fair coin, two-sided."""
    throws, fewer = wins + losses, min(wins, losses)
    # log C(n, i) for i = 0 .. fewer, step by step: sums of logarithms do not overflow for any n
    steps = np.arange(1, fewer + 1, dtype=np.float64)
    log_ways = np.concatenate([[0.0], np.cumsum(np.log((throws - steps + 1) / steps))])
    return float(min(1.0, 2 * np.exp(log_ways - throws * np.log(2.0)).sum()))


def _resampled_means(values: Values, samples: int, seed: int) -> Values:
    """The means of `samples` draws with replacement, each as long as `values`."""
    random = np.random.default_rng(seed)
    count = len(values)
    different, times = np.unique(values, return_counts=True)
    if len(different) <= MANY_VALUES:
        # How often each value comes is multinomial: the same distribution without drawing positions.
        drawn = random.multinomial(count, times / count, size=samples)
        return np.asarray(drawn @ different / count, np.float64)
    step = max(1, DRAWS_AT_ONCE // count)
    parts = [
        values[random.integers(count, size=(min(step, samples - start), count))].mean(axis=1)
        for start in range(0, samples, step)
    ]
    return np.concatenate(parts)


def _middle(means: Values, confidence: float) -> tuple[float, float]:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence lies between 0 and 1, got {confidence}")
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _values(values: npt.ArrayLike) -> Values:
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or not len(array):
        raise ValueError(f"expected a row of values, got an array of shape {array.shape}")
    return array


def _differences(first: npt.ArrayLike, second: npt.ArrayLike) -> Values:
    one, other = _values(first), _values(second)
    if one.shape != other.shape:
        raise ValueError(f"a paired test needs the same examples: got {len(one)} and {len(other)}")
    return one - other
