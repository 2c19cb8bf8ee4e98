"""Word embeddings for the models without a pretrained encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

from allears.errors import AllearsError
from allears.text.vectors import read_vectors, vector_size


class WordEmbedding(nn.Embedding):
    """An embedding that can start from published word vectors."""

    def __init__(self, vocabulary_size: int, size: int):
        super().__init__(vocabulary_size, size)
        # About the spread of GloVe's and fastText's numbers, so that words without a vector fit in.
        nn.init.normal_(self.weight, std=0.3)

    def load_vectors(self, words: Sequence[str], path: Path | str) -> int:
        """Start from a file in the GloVe layout; `words[i]` has id i. Returns how many words the file has."""
        if len(words) != self.num_embeddings:
            raise AllearsError(
                f"the vocabulary has {len(words)} words, but the model was built for {self.num_embeddings}"
            )
        found = read_vectors(path, set(words), size=self.embedding_dim)
        with torch.no_grad():
            for position, word in enumerate(words):
                if word in found:
                    self.weight[position] = torch.from_numpy(found[word])
        return len(found)

    def lay_vectors(self, words: Sequence[str], path: Path | str, *, seed: int = 0) -> int:
        """Start from vectors of any smaller size, laid into this space by a random isometry: v P with P P^T = I.

        All products among the vectors stay as they are, and every dimension gets its share of them. Words that the
        file does not have keep their random start. Returns how many words the file has.
        """
        size = vector_size(path)
        if size > self.embedding_dim:
            raise AllearsError(
                f"{path}: the vectors have {size} numbers, but the model's words only {self.embedding_dim}; "
                "choose a smaller file or a larger model"
            )
        found = read_vectors(path, set(words), size=size)
        generator = torch.Generator().manual_seed(seed)
        square = torch.randn(self.embedding_dim, size, generator=generator)
        isometry = torch.linalg.qr(square).Q.T if size < self.embedding_dim else torch.eye(size)
        with torch.no_grad():
            for position, word in enumerate(words):
                if word in found:
                    self.weight[position] = torch.from_numpy(found[word]) @ isometry
        return len(found)
