"""Sentences as vectors, for whoever needs to know how alike two of them are: a pretrained encoder, an exported bundle,
or the mean of published word vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from allears.text.layout import Tokens, flatten, pad_flat, plain_rows
from allears.text.tokenizer import WordPiece, words
from allears.text.vectors import read_vectors, vector_size

Vectors = npt.NDArray[np.float32]

LONGEST = 128  # tokens of a sentence that are read
BATCH = 64
VECTOR_FILES = (".txt", ".vec", ".txt.gz", ".vec.gz")


class SentenceEncoder(Protocol):
    def vectors(self, texts: Sequence[str]) -> Vectors:
        """[N, d], each of length 1 (or 0 for a text without a known word): their products are cosines."""
        ...


class TokenEncoder(SentenceEncoder, Protocol):
    def states(self, texts: Sequence[str]) -> list[Vectors]:
        """[tokens, d] for each text, without the marks at its ends."""
        ...


def similarity_by(encoder: SentenceEncoder) -> Any:
    """The `similarity` that `persona.memory.merge` takes: a sentence's cosine to each of some others."""

    def similarity(sentence: str, others: Sequence[str]) -> list[float]:
        found = encoder.vectors([sentence, *others])
        return [float(score) for score in found[1:] @ found[0]]

    return similarity


def unit(vectors: npt.ArrayLike) -> Vectors:
    """Each row at length 1; a row of zeros stays one."""
    rows = np.asarray(vectors, np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), np.float32)


def sentence_tokens(texts: Sequence[str], tokenizer: WordPiece) -> Tokens:
    rows = [flatten(plain_rows([ids], LONGEST), tokenizer) for ids in tokenizer.encode_many(texts)]
    return pad_flat(rows, tokenizer.pad)


class WordAverage:
    """The mean of a sentence's word vectors (PAL, Figure 5), from a file in GloVe's or fastText's text layout."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self.size = vector_size(self.path)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        split = [words(text) for text in texts]
        known = read_vectors(self.path, {word for each in split for word in each}, size=self.size)
        found = np.zeros((len(texts), self.size), np.float32)
        for row, each in zip(found, split, strict=True):
            vectors = [known[word] for word in each if word in known]
            if vectors:
                row[:] = np.mean(vectors, axis=0)
        return unit(found)


class OnnxSentences:
    """The encoder of an exported bundle; needs no torch."""

    def __init__(self, folder: Path | str):
        from allears.runtime.onnx_selector import OnnxSelector

        bundle = OnnxSelector.from_bundle(folder)
        self.encoder, self.tokenizer = bundle.encoder, bundle.tokenizer

    def vectors(self, texts: Sequence[str]) -> Vectors:
        return (
            unit(np.stack([text.vector for text in self._texts(texts)]))
            if texts
            else np.zeros((0, 1), np.float32)
        )

    def states(self, texts: Sequence[str]) -> list[Vectors]:
        return [text.states[1:-1] for text in self._texts(texts)]

    def _texts(self, texts: Sequence[str]) -> list[Any]:
        return self.encoder.texts(sentence_tokens(texts, self.tokenizer))
