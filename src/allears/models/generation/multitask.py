"""Multi-TR (Rashkin et al. 2019, appendix D.2; MIME section 4.2): a Transformer whose encoder also names the emotion.

H = Enc([QRY] x_1 ... x_m),     c = H_0
P(e | x) = softmax(W c)
P(y_t | y_<t, x) = softmax(E Dec(y_<t, H))
L = -log P(e | x) - 1/N sum_t log P(y_t | y_<t, x)
"""

from __future__ import annotations

from torch import Tensor, nn

from allears.models.generation.empathetic import (
    EmpatheticBatch,
    Learning,
    Read,
    before,
    label_loss,
    response_loss,
)
from allears.nn.transformer import ContextEncoder, DecoderStack, State, WordInput, WordOutput
from allears.nn.words import WordEmbedding


class Multitask(nn.Module):
    noise, beside = 0, 0

    def __init__(
        self,
        vocabulary: int,
        *,
        emotions: int = 32,
        encoder: nn.Module | None = None,
        size: int = 300,
        layers: int = 4,
        heads: int = 6,
        inner: int = 1200,
        dropout: float = 0.1,
        tied: bool = True,
    ):
        super().__init__()
        shape = {"layers": layers, "heads": heads, "inner": inner, "dropout": dropout}
        self.words = WordEmbedding(vocabulary, size)
        self.encoder = ContextEncoder(size, **shape, pretrained=encoder)  # type: ignore[arg-type]
        self.emotions = nn.Linear(size, emotions)  # W
        self.input = WordInput(size, dropout)
        self.decoder = DecoderStack(size, **shape)  # type: ignore[arg-type]
        self.output = WordOutput(size, vocabulary, tied=tied)

    def read(self, batch: EmpatheticBatch) -> Read:
        states = self.encoder(self.words, batch.context)
        return Read(states, batch.context.mask, self.emotions(states[:, 0]))

    def begin(self, read: Read) -> State:
        return (read.mask, *self.decoder.begin([read.states]))

    def write(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        mask, *layers = state
        states = self.input(self.words, tokens, seen=layers[0].shape[3])
        states, grown = self.decoder(states, tuple(layers), [mask])
        return self.output(self.words, states), (mask, *grown)

    def losses(self, batch: EmpatheticBatch, learning: Learning) -> dict[str, Tensor]:
        read = self.read(batch)
        assert read.emotions is not None
        logits, _ = self.write(before(batch), self.begin(read))
        return {
            "response": response_loss(logits, batch.targets, batch.mask, learning.smoothing),
            "emotion": label_loss(read.emotions, batch.emotion),
        }
