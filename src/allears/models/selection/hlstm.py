"""HLSTM (Lowe et al. 2015, as PEC section 5.1 adapts it): a hierarchical LSTM Tri-encoder.

An utterance-level BiLSTM, shared by all inputs, turns each utterance, persona sentence and response into the
last states of its two directions. A context-level BiLSTM reads the utterance vectors in order; persona
sentences have no order, so theirs are averaged. The score is response · mean(context, persona).
"""

from __future__ import annotations

from torch import Tensor

from allears.models.selection.on_words import OnWords
from allears.nn.inputs import Encoded, Inputs
from allears.nn.pooling import masked_mean
from allears.nn.recurrent import BiLSTM
from allears.nn.similarity import dot_scores, mean_query


class HLSTM(OnWords):
    nested_context = True
    nested_persona = True

    def __init__(
        self,
        *,
        vocabulary_size: int,
        embedding_size: int = 300,
        hidden_size: int = 300,
        dropout: float = 0.0,
    ):
        super().__init__(vocabulary_size, embedding_size, dropout)
        self.utterance = BiLSTM(embedding_size, hidden_size)
        self.context = BiLSTM(2 * hidden_size, hidden_size)

    def _utterances(self, inputs: Inputs) -> Tensor:
        """[..., L] tokens to [..., 2h]: the last state of each direction."""
        last: Tensor = self.utterance(self.dropout(self.words(inputs.ids)), inputs.mask)[1]
        return last

    def encode_context(self, inputs: Inputs) -> Encoded:
        utterances = self.dropout(self._utterances(inputs))  # [B, U, 2h]
        _, last = self.context(utterances, inputs.mask.any(-1))
        return Encoded(vector=last)  # [B, 2h]

    def encode_persona(self, inputs: Inputs) -> Encoded:
        return Encoded(vector=masked_mean(self._utterances(inputs), inputs.mask.any(-1)))  # [B, 2h]

    def encode_response(self, inputs: Inputs) -> Encoded:
        return Encoded(vector=self._utterances(inputs))  # [..., 2h]

    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        query = context.vector  # [B, 2h]
        if persona is not None:
            query = mean_query(query, persona.vector)
        return dot_scores(query, response.vector)
