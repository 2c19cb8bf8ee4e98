"""BERT+DIM (PEC section 5.4): DIM's matching on the token states of a pretrained encoder.

The encoder reads every utterance, persona sentence and response apart, in the place of DIM's word features
and sentence BiLSTM. Matching, aggregation and the MLP are DIM's own, `nn/interaction.py`.
"""

from __future__ import annotations

from torch import Tensor

from allears.models.selection.contract import SelectionModel
from allears.nn.chunks import score_in_chunks
from allears.nn.encoder import Encoder, own_encoders
from allears.nn.inputs import Encoded, Inputs
from allears.nn.interaction import InteractiveMatching
from allears.nn.rows import encode_rows


class BertDIM(SelectionModel):
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
        super().__init__()
        # the context's encoder, and everybody's unless `separate` gives persona and response their own
        self.encoder = encoder
        self.encoder_persona, self.encoder_response = own_encoders(encoder, separate=separate)
        self.matching = InteractiveMatching(
            encoder.size, hidden_size=hidden_size, mlp_size=mlp_size, dropout=dropout
        )
        self.chunk_pairs = chunk_pairs

    def _encode(self, encoder: Encoder, inputs: Inputs) -> Encoded:
        return Encoded(states=encode_rows(encoder, inputs), mask=inputs.mask)  # [..., L, d]

    def encode_context(self, inputs: Inputs) -> Encoded:
        return self._encode(self.encoder, inputs)

    def encode_persona(self, inputs: Inputs) -> Encoded:
        return self._encode(self.encoder_persona or self.encoder, inputs)

    def encode_response(self, inputs: Inputs) -> Encoded:
        return self._encode(self.encoder_response or self.encoder, inputs)

    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        return score_in_chunks(self.matching, context, persona, response, pairs=self.chunk_pairs)
