"""What the models without a pretrained encoder have in common: words with vectors of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torch import nn

from allears.models.selection.contract import SelectionModel
from allears.nn.words import WordEmbedding


class OnWords(SelectionModel):
    def __init__(self, vocabulary_size: int, embedding_size: int, dropout: float):
        super().__init__()
        self.words = WordEmbedding(vocabulary_size, embedding_size)
        self.dropout = nn.Dropout(dropout)

    def load_vectors(self, words: Sequence[str], path: Path | str) -> int:
        """Start from published word vectors; returns how many of `words` the file has."""
        return self.words.load_vectors(words, path)
