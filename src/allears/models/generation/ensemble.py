"""Ensem (Rashkin et al. 2019, appendix D.2): the encoder's output joined with what a frozen emotion encoder says.

H = Enc(x_1 ... x_m)                     h_c = FrozenReader(x): its mean state and its 32 emotions, never trained
^H_i = W [H_i ; h_c]                     joined at every place, back to the width that the decoder expects
P(y_t | y_<t, x) = softmax(E Dec(y_<t, ^H))

The paper takes DeepMoji; here it is the encoder that ships with allears and its emotion head (`beside.py`).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from allears.models.generation.empathetic import EmpatheticBatch, Learning, Read, before, response_loss
from allears.nn.transformer import ContextEncoder, DecoderStack, State, WordInput, WordOutput
from allears.nn.words import WordEmbedding


class Ensemble(nn.Module):
    noise = 0
    names_emotions = False

    def __init__(
        self,
        vocabulary: int,
        *,
        emotions: int = 32,  # the frozen encoder names them, this model does not
        encoder: nn.Module | None = None,
        beside: int = 384 + 32,  # numbers that the frozen encoder gives
        size: int = 300,
        layers: int = 4,
        heads: int = 6,
        inner: int = 1200,
        dropout: float = 0.1,
        tied: bool = True,
    ):
        super().__init__()
        shape = {"layers": layers, "heads": heads, "inner": inner, "dropout": dropout}
        self.beside = beside
        self.words = WordEmbedding(vocabulary, size)
        self.encoder = ContextEncoder(size, **shape, pretrained=encoder)  # type: ignore[arg-type]
        self.join = nn.Linear(size + beside, size)  # W
        self.input = WordInput(size, dropout)
        self.decoder = DecoderStack(size, **shape)  # type: ignore[arg-type]
        self.output = WordOutput(size, vocabulary, tied=tied)

    def read(self, batch: EmpatheticBatch) -> Read:
        states = self.encoder(self.words, batch.context)  # H [B, L, d]
        said = batch.beside[:, None, :].expand(-1, states.shape[1], -1).to(states.dtype)  # h_c [B, L, f]
        return Read(self.join(torch.cat([states, said], -1)), batch.context.mask)

    def begin(self, read: Read) -> State:
        return (read.mask, *self.decoder.begin([read.states]))

    def write(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        mask, *layers = state
        states = self.input(self.words, tokens, seen=layers[0].shape[3])
        states, grown = self.decoder(states, tuple(layers), [mask])
        return self.output(self.words, states), (mask, *grown)

    def losses(self, batch: EmpatheticBatch, learning: Learning) -> dict[str, Tensor]:
        logits, _ = self.write(before(batch), self.begin(self.read(batch)))
        return {"response": response_loss(logits, batch.targets, batch.mask, learning.smoothing)}
