"""The one interface of every classifier: `fit`, `predict`, `predict_proba`, `top_k`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError

Probabilities = npt.NDArray[np.float64]
Labels = str | Sequence[str]  # one label, or all of a text's labels


class Classifier(ABC):
    """Texts in, labels out. `labels_` is what it learned to tell apart, in the order of the columns."""

    labels_: tuple[str, ...] = ()

    @abstractmethod
    def fit(self, texts: Sequence[str], labels: Sequence[Labels]) -> Self:
        """Learn from texts and, for each, its label (or labels)."""

    @abstractmethod
    def predict_proba(self, texts: Sequence[str]) -> Probabilities:
        """[N, labels]: how likely each label is, in the order of `labels_`."""

    def predict(self, texts: Sequence[str]) -> list[str]:
        """The likeliest label of every text."""
        return [self.labels_[column] for column in self.predict_proba(texts).argmax(axis=1)]

    def top_k(self, texts: Sequence[str], k: int) -> list[list[tuple[str, float]]]:
        """The k likeliest labels of every text with their probabilities, the likeliest first."""
        if k < 1:
            raise AllearsError(f"top_k needs at least 1 label to give, got k={k}")
        found = self.predict_proba(texts)
        best = np.argsort(-found, axis=1, kind="stable")[:, :k]
        return [
            [(self.labels_[column], float(row[column])) for column in columns]
            for row, columns in zip(found, best, strict=True)
        ]


def label_sets(texts: Sequence[str], labels: Sequence[Labels]) -> list[tuple[str, ...]]:
    """Every text's labels as a tuple, after a look at whether the two lists belong together."""
    if len(texts) != len(labels):
        raise AllearsError(f"every text needs its label: got {len(texts)} texts and {len(labels)} labels")
    if not texts:
        raise AllearsError("there is nothing to learn from: no texts were given")
    return [(item,) if isinstance(item, str) else tuple(item) for item in labels]


def known_labels(sets: Iterable[tuple[str, ...]], wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The labels in their given order, or in the alphabet's; one that is not among the given is refused."""
    seen = {label for labels in sets for label in labels}
    if wanted is None:
        return tuple(sorted(seen))
    unknown = seen - set(wanted)
    if unknown:
        raise AllearsError(f"unknown label {min(unknown)!r}; known are {', '.join(wanted)}")
    return tuple(wanted)
