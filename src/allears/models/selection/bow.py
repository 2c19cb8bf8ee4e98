"""BoW (PEC section 5.1): every text is the mean of its word embeddings.

The simplest Tri-encoder, score = response · mean(context, persona), and the floor that every other model
must beat. One embedding table serves all three inputs.
"""

from __future__ import annotations

from torch import Tensor

from allears.models.selection.on_words import OnWords
from allears.nn.inputs import Encoded, Inputs
from allears.nn.pooling import masked_mean
from allears.nn.similarity import dot_scores, mean_query


class BagOfWords(OnWords):
    nested_context = False
    nested_persona = False

    def __init__(self, *, vocabulary_size: int, embedding_size: int = 300, dropout: float = 0.0):
        super().__init__(vocabulary_size, embedding_size, dropout)

    def _mean(self, inputs: Inputs) -> Encoded:
        return Encoded(vector=masked_mean(self.dropout(self.words(inputs.ids)), inputs.mask))  # [..., d]

    encode_context = encode_persona = encode_response = _mean

    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        query = context.vector  # [B, d]
        if persona is not None:
            query = mean_query(query, persona.vector)
        return dot_scores(query, response.vector)
