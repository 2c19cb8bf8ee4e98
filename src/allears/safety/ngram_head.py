"""The small head that always ships: character and word n-grams, hashed, and one linear layer. NumPy alone.

It knows wording, not meaning. The reader's risk head knows more; with this one there are two layers even without a
reader.

n-grams → bucket (hash) → tf · idf, L2-normalised → logits = W x + b → softmax over the labels
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from zlib import crc32

import numpy as np
import numpy.typing as npt

from allears.safety.patterns import pattern_table

BUCKETS = 1 << 16
WORDS = (1, 2, 3)  # in a word n-gram
LETTERS = (3, 4, 5)  # in a character n-gram, blanks between words counted in
LONGEST = 60  # words read at once; a long message is as dangerous as its most dangerous part
STEP = 40

Values = npt.NDArray[np.float32]
Buckets = npt.NDArray[np.int64]


def counts(text: str) -> tuple[Buckets, Values]:
    """Buckets and how often each was hit, in plain words: misspelling is gone before the head reads."""
    hits = np.fromiter((crc32(piece.encode()) % BUCKETS for piece in _pieces(text)), np.int64)
    buckets, times = np.unique(hits, return_counts=True)
    return buckets, np.asarray(1 + np.log(times), np.float32)


def _pieces(text: str) -> Iterator[str]:
    words = text.split()
    for size in WORDS:
        for start in range(len(words) - size + 1):
            yield f"{size} {' '.join(words[start : start + size])}"
    spaced = f" {text} "
    for size in LETTERS:
        for start in range(len(spaced) - size + 1):
            yield spaced[start : start + size]


def parts(message: str) -> Iterable[str]:
    """The message in plain words, in overlapping parts if it is long."""
    words = pattern_table().normalise.plain_words(message)
    for start in range(0, max(1, len(words) - (LONGEST - STEP)), STEP):
        yield " ".join(words[start : start + LONGEST])


@dataclass(frozen=True)
class NgramHead:
    """Call it with a message: the probability of every label, for the part of the message that looks gravest."""

    labels: tuple[str, ...]
    weights: Values  # [buckets, labels]
    bias: Values  # [labels]
    idf: Values  # [buckets]

    def __call__(self, message: str) -> dict[str, float]:
        rows = [self._probabilities(part) for part in parts(message)]
        gravest = min(rows, key=lambda row: float(row[0]))
        return {label: float(share) for label, share in zip(self.labels, gravest, strict=True)}

    def _probabilities(self, text: str) -> Values:
        buckets, values = counts(text)
        values = values * self.idf[buckets]
        length = float(np.linalg.norm(values)) or 1.0
        logits = (values / length) @ self.weights[buckets] + self.bias
        raised = np.exp(logits - logits.max())
        return np.asarray(raised / raised.sum(), np.float32)


@cache
def shipped_head() -> NgramHead:
    """The head in the package, trained by `python -m allears.training.safety.train_ngram_head`."""
    with (files("allears.safety") / "ngram_head.npz").open("rb") as file:
        stored = np.load(file, allow_pickle=False)
        card = json.loads(bytes(stored["card"]).decode())
        weights = stored["weights"].astype(np.float32) * stored["scale"]
        return NgramHead(
            tuple(card["labels"]),
            weights,
            stored["bias"],
            stored["idf"].astype(np.float32),
        )
