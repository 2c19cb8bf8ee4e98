"""VADER sentiment (Hutto & Gilbert 2014): a lexicon with rules, nothing to train."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError
from allears.labels import POLARITIES
from allears.runtime.classifier import Classifier, Labels, Probabilities, known_labels, label_sets

# VADER looks at every word's neighbours and slows down with the square of them; feelings are said sooner.
LONGEST = 5_000


class VaderSentiment(Classifier):
    """Positive or negative. `compound` is VADER's own number, from -1 to 1.

    The share of "positive" is (1 + compound) / 2: an order of how positive texts are, not a calibrated one.
    """

    labels_ = POLARITIES

    def __init__(self) -> None:
        self._analyzer = _analyzer()

    def fit(self, texts: Sequence[str], labels: Sequence[Labels]) -> Self:
        """Nothing to learn; labels other than positive and negative are refused all the same."""
        known_labels(label_sets(texts, labels), POLARITIES)
        return self

    def compound(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """[N]: from -1 (most negative) to 1 (most positive); 0 for a text without feeling, or without words."""
        scores = [self._analyzer.polarity_scores(text[:LONGEST])["compound"] for text in texts]
        return np.array(scores, np.float64)

    def predict_proba(self, texts: Sequence[str]) -> Probabilities:
        positive = (1 + self.compound(texts)) / 2
        return np.stack([positive, 1 - positive], axis=1)


def _analyzer() -> Any:
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer
    except ModuleNotFoundError as error:
        raise AllearsError('VADER is not installed; run pip install "allears[train]"') from error
    return SentimentIntensityAnalyzer()
