"""Measures of classifiers: top-k accuracy, macro-F1, confusion, calibration. Pure functions on arrays.

Scores are [N, labels]; gold is a mask of the same shape, so that an example may have several true labels.
Shares are percentages, as everywhere in `metrics`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allears.metrics.ranking import hits_at, ranks

Mask = npt.NDArray[np.bool_]
Values = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


def top_hits(scores: npt.ArrayLike, gold: npt.ArrayLike, k: int) -> Values:
    """Per example: 100 when a true label is among the k with the highest scores, otherwise 0.

    A tie is lost: a classifier that scores all labels alike gets no free points.
    """
    return hits_at(ranks(scores, gold), k)


def best_label(scores: npt.ArrayLike) -> Mask:
    """The prediction of a single-label classifier as a mask [N, labels]; of equal scores the first wins."""
    values = np.asarray(scores, np.float64)
    chosen: Mask = np.zeros(values.shape, np.bool_)
    chosen[np.arange(len(values)), values.argmax(axis=1)] = True
    return chosen


def macro_f1(gold: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    """The mean of the labels' F1, every label counting the same. Labels that nobody gave or said are left out."""
    true, said = _masks(gold, predicted)
    both = (true & said).sum(axis=0)
    either = true.sum(axis=0) + said.sum(axis=0)
    present = either > 0
    return 100.0 * float((2 * both[present] / either[present]).mean())


def confusion(gold: npt.ArrayLike, predicted: npt.ArrayLike) -> Counts:
    """[labels, labels]: how often each true label (row) was given each predicted one (column)."""
    true, said = _masks(gold, predicted)
    return np.asarray(true.astype(np.int64).T @ said.astype(np.int64), np.int64)


def token_f1(gold: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    """F1 of the marked tokens of one text; where nothing is to be marked, 100 for marking nothing, else 0."""
    true, said = np.asarray(gold, np.bool_), np.asarray(predicted, np.bool_)
    if true.shape != said.shape:
        raise ValueError(f"gold {true.shape} and predicted {said.shape} must mark the same tokens")
    either = int(true.sum() + said.sum())
    return 200.0 * int((true & said).sum()) / either if either else 100.0


@dataclass(frozen=True, slots=True)
class Reliability:
    """How right a classifier was where it was how sure: one entry per bin of confidence that holds anything."""

    confidence: Values  # mean confidence in the bin, 0 to 1
    accuracy: Values  # share that was right, 0 to 1
    counts: Counts


def reliability(confidence: npt.ArrayLike, right: npt.ArrayLike, bins: int = 15) -> Reliability:
    """The reliability curve over `bins` equally wide bins of confidence."""
    sure, correct = np.asarray(confidence, np.float64), np.asarray(right, np.float64)
    if sure.shape != correct.shape or sure.ndim != 1 or not len(sure):
        raise ValueError(
            f"confidence {sure.shape} and right {correct.shape} must be rows of the same examples"
        )
    if sure.min() < 0 or sure.max() > 1 + 1e-9:
        raise ValueError("confidence lies between 0 and 1")
    place = np.minimum((sure * bins).astype(np.int64), bins - 1)
    counts = np.bincount(place, minlength=bins)
    filled = counts > 0
    return Reliability(
        np.bincount(place, sure, bins)[filled] / counts[filled],
        np.bincount(place, correct, bins)[filled] / counts[filled],
        np.asarray(counts[filled], np.int64),
    )


def expected_calibration_error(confidence: npt.ArrayLike, right: npt.ArrayLike, bins: int = 15) -> float:
    """ECE: the mean distance between confidence and accuracy, in points, each bin weighted by its size."""
    curve = reliability(confidence, right, bins)
    distance = np.abs(curve.confidence - curve.accuracy)
    return 100.0 * float((distance * curve.counts).sum() / curve.counts.sum())


def _masks(gold: npt.ArrayLike, predicted: npt.ArrayLike) -> tuple[Mask, Mask]:
    true, said = np.asarray(gold, np.bool_), np.asarray(predicted, np.bool_)
    if true.shape != said.shape or true.ndim != 2 or not len(true):
        raise ValueError(f"gold {true.shape} and predicted {said.shape} must both be [examples, labels]")
    return true, said
