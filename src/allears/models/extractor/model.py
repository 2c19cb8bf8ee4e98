"""The persona extractor: the shared encoder, a gate, and a small decoder that writes (PAL section 3.2).

states = encoder(utterance)                    one vector per token
gate   = w . mean of the states                does this tell something about the person?
persona = decoder(<persona>, states)           if so: what, in the first person; mostly in the person's own words
"""

from __future__ import annotations

from torch import Tensor, nn

from allears.nn.decoder import Decoder, DecoderState
from allears.nn.encoder import Encoder
from allears.nn.inputs import Inputs
from allears.nn.pooling import masked_mean


class Extractor(nn.Module):
    def __init__(
        self,
        encoder: Encoder,
        *,
        layers: int = 4,
        heads: int = 6,
        inner: int = 2,
        longest: int = 48,
        dropout: float = 0.1,
    ):
        super().__init__()
        self.encoder = encoder
        self.gate = nn.Sequential(nn.Dropout(dropout), nn.Linear(encoder.size, 1))
        self.decoder = Decoder(
            encoder.size,
            self.table.shape[0],
            layers=layers,
            heads=heads,
            inner=inner,
            longest=longest,
            dropout=dropout,
        )

    @property
    def table(self) -> Tensor:
        """The encoder's word embeddings [V, d]."""
        embeddings: nn.Embedding = self.encoder.model.get_input_embeddings()  # type: ignore[operator]
        return embeddings.weight

    def read(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """The gate's logits [B], and the states [B, S, d] to write from."""
        states = self.encoder(inputs)
        return self.gate(masked_mean(states, inputs.mask)).squeeze(-1), states

    def start(self, inputs: Inputs, states: Tensor) -> DecoderState:
        return self.decoder.start(states, inputs.ids, inputs.mask, self.table)

    def likelihood(self, inputs: Inputs, states: Tensor, targets: Tensor) -> Tensor:
        """log P [B, T] of the target's tokens [B, T], each after those before it."""
        task = targets.new_full((len(targets), 1), self.decoder.task_token("persona"))
        before = nn.functional.pad(targets, (1, 0))[:, :-1]
        before[:, :1] = task
        return self.decoder.likelihood(before, targets, self.start(inputs, states), self.table)

    def step(self, tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """For `generation.decoding`: log P [B, V] after one more token [B]."""
        return self.decoder.step(tokens, DecoderState(*state), self.table)
