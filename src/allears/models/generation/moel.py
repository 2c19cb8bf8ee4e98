"""MoEL: Mixture of Empathetic Listeners (Lin et al. 2019).

H = Enc([QRY] x_1 ... x_m),   q = H_0            word + position + speaker
p = softmax(q K^T)                               emotion tracker: a key for each of n emotions
V_i = Listener_i(y_<t, H),  i = 0 ... n          decoder layers; listener 0 is shared by all emotions
V = V_0 + sum_i p_i V_i                          over the k likeliest emotions, p renormalised among them
P(y_t | y_<t, x) = softmax(W Meta(V, H))         the meta listener is one more decoder layer
L = -log p_e - 1/N sum_t log P(y_t | y_<t, x)

In early training the gold emotion alone takes the place of p, with a chance that falls (`Learning.gold`).

The 1 + n listeners stand side by side in one layer (`copies`), which runs them at once. As in the public run, their
attention is narrow (40 of 300), which is what keeps 33 decoders affordable.

Before it learns emotions a MoEL may learn to talk, with one listener for all of them (`apart = false`, no part of the
paper): a MoEL that starts from such a run gives every emotion that listener, and from there they part.
"""

from __future__ import annotations

from typing import Unpack

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.models.generation.empathetic import (
    NOT_KNOWN,
    EmpatheticBatch,
    EmpatheticModel,
    Learning,
    Read,
    StackOptions,
)
from allears.nn.transformer import DecoderLayer, LayerShape, State, WordInput, WordOutput


class ListenerOptions(StackOptions, total=False):
    """What a `ListeningModel` is built with, beside its vocabulary."""

    listener_heads: int
    listener_depth: int
    listener_inner: int
    top: int


class ListeningModel(EmpatheticModel):
    """The parts of MoEL and ModMoEL, which differ in what they add between them and in how they use them."""

    apart = True  # a listener for each emotion; or one for all of them
    sources = 1  # what a decoder layer attends to: the context, and in ModMoEL the persona

    def __init__(
        self,
        vocabulary: int,
        *,
        emotions: int = 32,
        encoder: nn.Module | None = None,
        size: int = 300,
        layers: int = 1,  # of the encoder
        heads: int = 2,
        inner: int = 600,
        listener_heads: int = 2,
        listener_depth: int = 40,
        listener_inner: int = 150,
        top: int = 5,  # k
        dropout: float = 0.1,
        tied: bool = False,
    ):
        super().__init__()
        shape: LayerShape = {"layers": layers, "heads": heads, "inner": inner, "dropout": dropout}
        self.top = min(top, emotions)
        self._add_reading(vocabulary, size, shape, encoder)
        self.keys = nn.Linear(size, emotions, bias=False)  # K
        self._add_own(size)
        self.input = WordInput(size, dropout)
        self.listeners = DecoderLayer(
            size,
            listener_heads,
            listener_inner,
            dropout,
            depth=listener_depth,
            sources=self.sources,
            copies=1 + (emotions if self.apart else 1),
        )
        self.meta = DecoderLayer(size, heads, inner, dropout, sources=self.sources)
        self.norm = nn.LayerNorm(size)
        self.output = WordOutput(size, vocabulary, tied=tied)

    def _add_own(self, size: int) -> None:
        """What a model has between the emotion tracker and its listeners."""

    def taken(self, start: dict[str, Tensor]) -> dict[str, Tensor]:
        return parted(start, self.listeners.copies)


class MoEL(ListeningModel):
    def __init__(self, vocabulary: int, *, apart: bool = True, **options: Unpack[ListenerOptions]):
        self.apart = apart  # before all parts, which need it
        super().__init__(vocabulary, **options)

    def read(self, batch: EmpatheticBatch) -> Read:
        states = self.encoder(self.words, batch.context)
        logits = self.keys(states[:, 0])  # q K^T
        return Read(states, batch.context.mask, logits, (mixture(logits, self.top),))

    def begin(self, read: Read) -> State:
        (weights,) = read.more
        return (read.mask, weights, *self.listeners.begin([read.states]), *self.meta.begin([read.states]))

    def write(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        mask, weights, *layers = state
        listening = self.listeners.state_size
        heard = self.input(self.words, tokens, seen=layers[0].shape[3])
        voices, own = self.listeners(heard, tuple(layers[:listening]), [mask])  # V_0 ... V_n [B, 1 + n, T, d]
        final, meta = self.meta(together(voices, weights), tuple(layers[listening:]), [mask])
        return self.output(self.words, self.norm(final.squeeze(1))), (mask, weights, *own, *meta)

    def losses(self, batch: EmpatheticBatch, learning: Learning) -> dict[str, Tensor]:
        read = self.read(batch)
        weights = with_gold(read.more[0], batch.emotion, learning.gold)
        return self._losses_of(read._replace(more=(weights,)), batch, learning)


def together(voices: Tensor, weights: Tensor) -> Tensor:
    """V [B, T, d]: the shared listener and the mixture of the others; where one stands for all, it has all weight."""
    if voices.shape[1] == 2:
        weights = weights.sum(-1, keepdim=True)
    return voices[:, 0] + torch.einsum("bn,bntd->btd", weights.to(voices.dtype), voices[:, 1:])


def parted(start: dict[str, Tensor], copies: int) -> dict[str, Tensor]:
    """A start's weights where it had one listener for all emotions: each emotion's begins as that one."""

    def each(value: Tensor) -> Tensor:
        return torch.cat([value[:1], value[1:].expand(copies - 1, *value.shape[1:])])

    return {
        name: each(value) if name.startswith("listeners.") and len(value) == 2 else value
        for name, value in start.items()
    }


def mixture(logits: Tensor, top: int) -> Tensor:
    """p [B, n] over the `top` likeliest emotions, zero for all others. In float32."""
    logits = logits.float()
    least = logits.topk(top, -1).values[:, -1:]
    return logits.masked_fill(logits < least, float("-inf")).softmax(-1)


def with_gold(weights: Tensor, labels: Tensor, chance: float) -> Tensor:
    """The gold label's weight alone, for a share of the examples (those that have one)."""
    if chance <= 0:
        return weights
    shown = (torch.rand(len(labels), device=labels.device) < chance) & (labels != NOT_KNOWN)
    gold = F.one_hot(labels.clamp(min=0), weights.shape[-1]).to(weights.dtype)
    return torch.where(shown[:, None], gold, weights)
