"""Do raters agree more than chance would have them? Fleiss' kappa and Krippendorff's alpha."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float:
    """Fleiss (1971): the same number of raters for every subject, whoever they are.

    1 is perfect agreement, 0 what chance gives. NaN where everybody always chose the same: there is no chance then.
    """
    sizes = {len(each) for each in ratings}
    if len(sizes) != 1 or min(sizes) < 2:
        raise ValueError("Fleiss' kappa needs the same number of raters, two or more, for every subject")
    raters = sizes.pop()
    labels = sorted({str(value) for each in ratings for value in each})
    counts = np.array([[Counter(map(str, each))[label] for label in labels] for each in ratings], np.float64)
    share = counts.sum(axis=0) / counts.sum()  # p_j
    agreed = ((counts**2).sum(axis=1) - raters) / (raters * (raters - 1))  # P_i
    by_chance = float((share**2).sum())  # P_e
    if by_chance == 1:
        return float("nan")
    return float((agreed.mean() - by_chance) / (1 - by_chance))


def krippendorff_alpha(ratings: Sequence[Sequence[Any]], level: str = "nominal") -> float:
    """Krippendorff (2011): any number of raters, missing ones left out; `level`: nominal, ordinal or interval.

    Subjects with a single rating say nothing about agreement and are left out. NaN where all ratings are the same.
    """
    paired = [list(each) for each in ratings if len(each) > 1]
    values = sorted({value for each in paired for value in each}, key=_sorting)
    if len(values) < 2:
        return float("nan")
    place = {value: number for number, value in enumerate(values)}
    together = np.zeros((len(values), len(values)))  # o_ck: how often two values met in a subject
    for each in paired:
        row = np.zeros(len(values))
        for value in each:
            row[place[value]] += 1
        together += (np.outer(row, row) - np.diag(row)) / (len(each) - 1)
    totals = together.sum(axis=1)  # n_c
    distance = _DISTANCES[level](values, totals)
    expected = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    return float(1 - (together * distance).sum() / (expected * distance).sum())


def _nominal(values: Sequence[Any], totals: Matrix) -> Matrix:
    return 1.0 - np.eye(len(values))


def _interval(values: Sequence[Any], totals: Matrix) -> Matrix:
    numbers = np.asarray(values, np.float64)
    return np.asarray((numbers[:, None] - numbers[None]) ** 2)


def _ordinal(values: Sequence[Any], totals: Matrix) -> Matrix:
    """How many ratings lie between two values: the sum from the one to the other, less half of both ends, squared."""
    middle = np.cumsum(totals) - totals / 2
    return np.asarray((middle[:, None] - middle[None]) ** 2)


_DISTANCES: dict[str, Callable[[Sequence[Any], Matrix], Matrix]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
}


def _sorting(value: Any) -> tuple[int, float, str]:
    """Numbers by size, then words."""
    return (0, float(value), "") if isinstance(value, int | float) else (1, 0.0, str(value))


def in_words(kappa: float) -> str:
    """Landis and Koch's words, which the papers use."""
    if np.isnan(kappa):
        return "not defined"
    for bound, words in (
        (0.0, "poor"),
        (0.2, "slight"),
        (0.4, "fair"),
        (0.6, "moderate"),
        (0.8, "substantial"),
    ):
        if kappa <= bound:
            return words
    return "almost perfect"
