"""How well a model finds the true response among others: R@k and MRR, exactly as the papers mean them.

An example is compared with C candidates: its own true response and C - 1 other responses drawn from the same
split with a fixed seed. Equal texts count as true. Ties rank the true response last: no free points.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError

Indices = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def draw_candidates(
    texts: Sequence[str], count: int, seed: int, examples: npt.ArrayLike | None = None
) -> Indices:
    """Which responses each example is compared with: indices into `texts`, [N, count].

    Column 0 is the example's own response; the other columns are `count - 1` different other responses, every
    such set equally likely. `examples` picks rows: an example's candidates do not depend on which others are
    evaluated with it. Raises `AllearsError` when the pool is too small.
    """
    pool = len(texts)
    if count < 2:
        raise AllearsError(f"ranking needs at least 2 candidates, got {count}")
    if count > pool:
        raise AllearsError(
            f"{count} candidates were asked for, but the split has only {pool} responses; lower --candidates"
        )
    others = _distinct_rows(np.random.default_rng(seed), rows=pool, count=count - 1, below=pool - 1)
    own = np.arange(pool)
    others += others >= own[:, None]  # 0 .. pool - 2 becomes everything but the own index
    chosen = np.concatenate([own[:, None], others], axis=1)
    return chosen if examples is None else chosen[np.asarray(examples, np.int64)]


def _distinct_rows(random: np.random.Generator, *, rows: int, count: int, below: int) -> Indices:
    """[rows, count]: in each row `count` different numbers under `below`."""
    if 2 * count > below:  # nearly everything is wanted: shuffle whole rows (short ones, as below < 2 count)
        return random.permuted(np.tile(np.arange(below), (rows, 1)), axis=1)[:, :count].copy()
    # Draw, then draw again only what came twice. At least half of the redraws are new, so it ends quickly;
    # no number is treated differently from another, so every set is equally likely.
    drawn = random.integers(below, size=(rows, count))
    unfinished = np.arange(rows)
    while len(unfinished):
        part = np.sort(drawn[unfinished], axis=1)
        again = np.zeros(part.shape, np.bool_)
        again[:, 1:] = part[:, 1:] == part[:, :-1]
        part[again] = random.integers(below, size=int(again.sum()))
        drawn[unfinished] = part
        unfinished = unfinished[again.any(axis=1)]
    return drawn


def true_mask(texts: Sequence[str], chosen: Indices) -> Mask:
    """Which candidates are true: those whose text equals column 0's, whitespace normalised. Like `chosen`."""
    numbers: dict[str, int] = {}
    number = np.array([numbers.setdefault(" ".join(text.split()), len(numbers)) for text in texts], np.int64)
    same: Mask = number[chosen] == number[chosen[:, :1]]
    return same


def ranks(scores: npt.ArrayLike, true: npt.ArrayLike) -> Indices:
    """The rank of the best true candidate, 1 is the top: scores and true [N, C] give [N].

    rank = 1 + the number of other candidates that score at least as high (so a tie is lost).
    """
    values, real = np.asarray(scores), np.asarray(true, np.bool_)
    if values.shape != real.shape or values.ndim != 2:
        raise ValueError(f"scores {values.shape} and true {real.shape} must both be [examples, candidates]")
    if np.isnan(values).any():
        raise AllearsError("the model gives scores that are not numbers (NaN); its training has diverged")
    if not real.any(axis=1).all():
        raise ValueError("every example needs a true candidate")
    best = np.where(real, values, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    found: Indices = 1 + ((values >= best) & ~real).sum(axis=1)
    return found


def recall_at(ranks: npt.ArrayLike, k: int) -> float:
    """R@k: the percentage of examples whose true response ranks among the first k."""
    return float(hits_at(ranks, k).mean())


def mean_reciprocal_rank(ranks: npt.ArrayLike) -> float:
    """MRR: the mean of 1 / rank, as a percentage."""
    return float(reciprocal_ranks(ranks).mean())


def hits_at(ranks: npt.ArrayLike, k: int) -> npt.NDArray[np.float64]:
    """Per example: 100 when its true response is among the first k, otherwise 0. Their mean is R@k."""
    return np.where(_ranked(ranks) <= k, 100.0, 0.0)


def reciprocal_ranks(ranks: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Per example: 100 / rank. Their mean is MRR."""
    return 100.0 / _ranked(ranks).astype(np.float64)


def _ranked(ranks: npt.ArrayLike) -> Indices:
    array = np.asarray(ranks, np.int64)
    if not len(array):
        raise ValueError("there are no ranks to average")
    return array


def area_under_curve(better: npt.ArrayLike, worse: npt.ArrayLike) -> float:
    """How often one of `better` is above one of `worse` (the area under the ROC curve); half where they are equal."""
    above, below = np.asarray(better, np.float64), np.asarray(worse, np.float64)
    if not len(above) or not len(below):
        raise AllearsError("the area under a curve needs scores on both sides")
    order = np.sort(below)
    wins = np.searchsorted(order, above, "left") + np.searchsorted(order, above, "right")
    return float(wins.mean() / (2 * len(below)))
