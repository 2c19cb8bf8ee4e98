"""BERT+DIM (PEC section 5.4): DIM's matching on the token states of a pretrained encoder.

The encoder reads every utterance, persona sentence and response apart, in the place of DIM's word features
and sentence BiLSTM. Matching, aggregation and the MLP are DIM's own, `nn/interaction.py`.
"""

from __future__ import annotations

from torch import Tensor

from allears.models.selection.on_encoders import OnEncoders
from allears.nn.chunks import score_in_chunks
from allears.nn.encoder import Encoder
from allears.nn.inputs import Encoded, Inputs
from allears.nn.interaction import InteractiveMatching
from allears.nn.rows import encode_rows


class BertDIM(OnEncoders):
    nested_context = True
    nested_persona = True

    def __init__(
        self,
        encoder: Encoder,
        *,
        separate: bool = False,
        hidden_size: int = 200,
        mlp_size: int = 256,
        dropout: float = 0.1,
        chunk_pairs: int = 512,
    ):
        super().__init__(encoder, separate=separate)
        self.matching = InteractiveMatching(
            encoder.size, hidden_size=hidden_size, mlp_size=mlp_size, dropout=dropout
        )
        self.chunk_pairs = chunk_pairs

    def _encode(self, encoder: Encoder, inputs: Inputs) -> Encoded:
        return Encoded(states=encode_rows(encoder, inputs), mask=inputs.mask)  # [..., L, d]

    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        return score_in_chunks(self.matching, context, persona, response, pairs=self.chunk_pairs)
