"""The generator of EmpatheticDialogues (Rashkin et al. 2019, section 4.1): a Transformer, from context to response.

H = Enc(x_1 ... x_m)                          the turns so far, concatenated: word + position + speaker
P(y_t | y_<t, x) = softmax(E Dec(y_<t, H))    E: the words' vectors, shared by encoder, decoder and output (`tied`)
L = -1/N sum_t log P(y_t | y_<t, x)

Four layers and six heads; "Large" has five layers. The words start from published vectors.
"""

from __future__ import annotations

from torch import Tensor, nn

from allears.models.generation.empathetic import EmpatheticBatch, Learning, Read, before, response_loss
from allears.nn.transformer import ContextEncoder, DecoderStack, State, WordInput, WordOutput
from allears.nn.words import WordEmbedding


class Transformer(nn.Module):
    noise, beside = 0, 0
    names_emotions = False

    def __init__(
        self,
        vocabulary: int,
        *,
        emotions: int = 32,  # it does not name them
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
        self.input = WordInput(size, dropout)
        self.decoder = DecoderStack(size, **shape)  # type: ignore[arg-type]
        self.output = WordOutput(size, vocabulary, tied=tied)

    def read(self, batch: EmpatheticBatch) -> Read:
        return Read(self.encoder(self.words, batch.context), batch.context.mask)

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
