"""Transformer blocks for the models that learn from words (Vaswani et al. 2017), pre-norm, with a cache for writing.

A decoder layer may stand there several times side by side (`copies`): MoEL's listeners are 33 decoder layers that all
read the same, and run as one. Hidden states are then [B, copies, T, d]; an ordinary layer has one copy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypedDict, Unpack

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.nn.inputs import Inputs

State = tuple[Tensor, ...]


def sinusoids(positions: Tensor, size: int) -> Tensor:
    """Where a token stands: sines and cosines of falling frequency, [..., size]; no longest text."""
    half = (size + 1) // 2
    rates = torch.exp(torch.arange(half, device=positions.device) * (-math.log(10_000.0) / max(half - 1, 1)))
    angles = positions.unsqueeze(-1).float() * rates
    return torch.cat([angles.sin(), angles.cos()], -1)[..., :size]


class Linears(nn.Module):
    """Linear layers side by side: [B, T, in], the same for all, or [B, copies, T, in] to [B, copies, T, out]."""

    def __init__(self, copies: int, wide: int, out: int, *, bias: bool = True):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(copies, wide, out))
        self.bias = nn.Parameter(torch.zeros(copies, 1, out)) if bias else None
        bound = math.sqrt(6 / (wide + out))  # Glorot and Bengio 2010
        nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, states: Tensor) -> Tensor:
        letters = "btd,nde->bnte" if states.dim() == 3 else "bntd,nde->bnte"
        found = torch.einsum(letters, states, self.weight.to(states.dtype))
        return found if self.bias is None else found + self.bias.to(found.dtype)


class Norms(nn.Module):
    """Layer norms side by side, for [B, T, d] or [B, copies, T, d]. The gain is kept as its difference from 1."""

    def __init__(self, copies: int, size: int):
        super().__init__()
        self.gain = nn.Parameter(torch.zeros(copies, 1, size))
        self.shift = nn.Parameter(torch.zeros(copies, 1, size))

    def forward(self, states: Tensor) -> Tensor:
        if states.dim() == 3:
            states = states.unsqueeze(1)
        return F.layer_norm(states, states.shape[-1:]) * (1 + self.gain) + self.shift


class Attention(nn.Module):
    """Multi-head attention of total width `depth`, which may differ from the states' (MoEL: 40 of 300)."""

    def __init__(self, size: int, heads: int, depth: int, dropout: float, *, copies: int = 1):
        super().__init__()
        if depth % heads:
            raise ValueError(f"{heads} heads cannot share a width of {depth}")
        self.heads, self.chance = heads, dropout
        self.query = Linears(copies, size, depth)
        self.key_value = Linears(copies, size, 2 * depth)
        self.output = Linears(copies, depth, size)

    def read(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values [B, copies, heads, S, depth / heads] of [B, S, d] (or [B, copies, S, d])."""
        keys, values = self.key_value(states).chunk(2, -1)
        return self._split(keys), self._split(values)

    def forward(
        self,
        states: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
    ) -> Tensor:
        """[B, copies, T, d]. `mask` [B, S] is true where there is something to look at; a row that has nothing
        there gets zeros."""
        queries = self._split(self.query(states))  # [B, copies, heads, T, depth / heads]
        copies = queries.shape[1]
        seen, bias = None, None
        if mask is not None:
            seen = mask.bool()
            # all of a row may be barred: a finite number keeps its softmax free of NaN
            bias = torch.zeros(seen.shape, dtype=queries.dtype, device=seen.device)
            bias = bias.masked_fill(~seen, torch.finfo(queries.dtype).min / 2)
            bias = bias.repeat_interleave(copies, 0)[:, None, None, :]
        found = F.scaled_dot_product_attention(
            queries.flatten(0, 1),
            keys.to(queries.dtype).flatten(0, 1),
            values.to(queries.dtype).flatten(0, 1),
            attn_mask=bias,
            dropout_p=self.chance if self.training else 0.0,
            is_causal=causal,
        ).unflatten(0, (-1, copies))
        output: Tensor = self.output(found.transpose(2, 3).flatten(-2))
        return output if seen is None else output * seen.any(-1)[:, None, None, None]

    def _split(self, states: Tensor) -> Tensor:
        return states.unflatten(-1, (self.heads, -1)).transpose(2, 3)


class FeedForward(nn.Module):
    def __init__(self, size: int, inner: int, dropout: float, *, copies: int = 1):
        super().__init__()
        self.first, self.second = Linears(copies, size, inner), Linears(copies, inner, size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor) -> Tensor:
        found: Tensor = self.second(self.dropout(self.first(states).relu()))
        return found


class LayerShape(TypedDict):
    """Of a stack of Transformer layers."""

    layers: int
    heads: int
    inner: int
    dropout: float


class EncoderLayer(nn.Module):
    """x + self-attention(norm(x)), then + feed-forward(norm(x)). States are [B, 1, L, d]."""

    def __init__(self, size: int, heads: int, inner: int, dropout: float, *, depth: int = 0):
        super().__init__()
        self.attention_norm, self.forward_norm = Norms(1, size), Norms(1, size)
        self.attention = Attention(size, heads, depth or size, dropout)
        self.feed_forward = FeedForward(size, inner, dropout)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        normed = self.attention_norm(states)
        states = states + self.dropout(self.attention(normed, *self.attention.read(normed), mask))
        found: Tensor = states + self.dropout(self.feed_forward(self.forward_norm(states)))
        return found


class ContextEncoder(nn.Module):
    """What was said, as states [B, L, d]: word + position + speaker, then encoder layers.

    It reads vectors, not ids: the words' table belongs to the model, whose decoder shares it. `segments` say who
    speaks (0 the one who is answered, 1 the one who answers). With a `pretrained` encoder, that one reads the tokens.
    """

    def __init__(
        self,
        size: int,
        *,
        pretrained: nn.Module | None = None,
        **shape: Unpack[LayerShape],
    ):
        super().__init__()
        self.size, self.pretrained = size, pretrained
        if pretrained is not None:
            wide: int = pretrained.size  # type: ignore[assignment]
            self.fit = nn.Identity() if wide == size else nn.Linear(wide, size)
            return
        self.speakers = nn.Embedding(2, size)
        nn.init.normal_(self.speakers.weight, std=0.1)
        self.position_scale = nn.Parameter(torch.tensor(0.3))  # sines are large beside word vectors
        self.layers = EncoderStack(size, **shape)
        self.dropout = nn.Dropout(shape["dropout"])

    def forward(self, words: nn.Embedding, inputs: Inputs) -> Tensor:
        found: Tensor
        if self.pretrained is not None:
            found = self.fit(self.pretrained(inputs))
            return found
        places = torch.arange(inputs.ids.shape[1], device=inputs.ids.device)
        vectors = words(inputs.ids) + self.speakers(inputs.segments)
        vectors = vectors + self.position_scale * sinusoids(places, self.size)
        found = self.layers(self.dropout(vectors), inputs.mask)
        return found


class EncoderStack(nn.Module):
    """Encoder layers, one after another, and a norm at the end: [B, L, d] and mask [B, L] to [B, L, d].

    `wide`: of states that are wider than the layers' (MIME's equation 20 doubles them); they are narrowed first.
    """

    def __init__(self, size: int, *, wide: int = 0, **shape: Unpack[LayerShape]):
        super().__init__()
        heads, inner, dropout = shape["heads"], shape["inner"], shape["dropout"]
        self.narrow = nn.Linear(wide, size) if wide else None
        self.layers = nn.ModuleList(
            [EncoderLayer(size, heads, inner, dropout) for _ in range(shape["layers"])]
        )
        self.norm = nn.LayerNorm(size)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        if self.narrow is not None:
            states = self.narrow(states)
        states = states.unsqueeze(1)
        for layer in self.layers:
            states = layer(states, mask)
        found: Tensor = self.norm(states.squeeze(1))
        return found


class DecoderLayer(nn.Module):
    """x + self-attention, + attention to each source in turn, + feed-forward; each behind a norm of its own.

    Its state: keys and values of what was written, then keys and values of each source; all batch first,
    [B, copies, heads, t, depth / heads].
    """

    def __init__(
        self,
        size: int,
        heads: int,
        inner: int,
        dropout: float,
        *,
        depth: int = 0,
        sources: int = 1,
        copies: int = 1,
    ):
        super().__init__()
        depth = depth or size
        self.copies, self.sources = copies, sources
        self.norms = nn.ModuleList([Norms(copies, size) for _ in range(2 + sources)])
        self.own = Attention(size, heads, depth, dropout, copies=copies)
        self.reads = nn.ModuleList(
            [Attention(size, heads, depth, dropout, copies=copies) for _ in range(sources)]
        )
        self.feed_forward = FeedForward(size, inner, dropout, copies=copies)
        self.dropout = nn.Dropout(dropout)

    @property
    def state_size(self) -> int:
        return 2 + 2 * self.sources

    def begin(self, sources: Sequence[Tensor]) -> State:
        """Before anything is written, with the sources [B, S, d] to be read."""
        read: list[Tensor] = []
        for attention, source in zip(self.reads, sources, strict=True):
            assert isinstance(attention, Attention)  # for the type checker
            read += attention.read(source)
        keys = read[0]
        nothing = keys.new_zeros(*keys.shape[:3], 0, keys.shape[-1])
        return (nothing, nothing, *read)

    def forward(self, states: Tensor, state: State, masks: Sequence[Tensor]) -> tuple[Tensor, State]:
        """[B, T, d] or [B, copies, T, d] to [B, copies, T, d]. Several tokens at once must be the first ones."""
        if states.dim() == 3:
            states = states.unsqueeze(1)
        old_keys, old_values, *read = state
        several = states.shape[2] > 1
        if several and old_keys.shape[3]:
            raise ValueError("several tokens at once can only be read at the beginning")
        normed = self.norms[0](states)
        keys, values = self.own.read(normed)
        keys = torch.cat([old_keys.to(keys.dtype), keys], 3)
        values = torch.cat([old_values.to(values.dtype), values], 3)
        states = states + self.dropout(self.own(normed, keys, values, causal=several))
        for number, (attention, mask) in enumerate(zip(self.reads, masks, strict=True)):
            pair = read[2 * number : 2 * number + 2]
            states = states + self.dropout(attention(self.norms[1 + number](states), *pair, mask))
        states = states + self.dropout(self.feed_forward(self.norms[-1](states)))
        return states, (keys, values, *read)


class DecoderStack(nn.Module):
    """Ordinary decoder layers, one after another, and a norm at the end: [B, T, d] to [B, T, d]."""

    def __init__(self, size: int, **shape: Unpack[LayerShape]):
        super().__init__()
        heads, inner, dropout = shape["heads"], shape["inner"], shape["dropout"]
        self.layers = nn.ModuleList(
            [DecoderLayer(size, heads, inner, dropout) for _ in range(shape["layers"])]
        )
        self.norm = nn.LayerNorm(size)

    def begin(self, sources: Sequence[Tensor]) -> State:
        return tuple(part for layer in self._layers() for part in layer.begin(sources))

    def forward(self, states: Tensor, state: State, masks: Sequence[Tensor]) -> tuple[Tensor, State]:
        grown: list[Tensor] = []
        states = states.unsqueeze(1)
        for layer in self._layers():
            size = layer.state_size
            own, state = state[:size], state[size:]
            states, own = layer(states, own, masks)
            grown += own
        return self.norm(states.squeeze(1)), tuple(grown)

    def _layers(self) -> list[DecoderLayer]:
        return [layer for layer in self.layers if isinstance(layer, DecoderLayer)]


class WordInput(nn.Module):
    """What a decoder reads of its own words: their vectors with their places, [B, T] to [B, T, d]; `seen` tokens came
    before."""

    def __init__(self, size: int, dropout: float):
        super().__init__()
        self.size = size
        self.position_scale = nn.Parameter(torch.tensor(0.3))
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: nn.Embedding, tokens: Tensor, seen: int) -> Tensor:
        places = torch.arange(seen, seen + tokens.shape[1], device=tokens.device)
        found: Tensor = self.dropout(words(tokens) + self.position_scale * sinusoids(places, self.size))
        return found


class WordOutput(nn.Module):
    """States [B, T, d] to logits [B, T, V]: a layer of its own, or (`tied`) the words' own vectors."""

    def __init__(self, size: int, vocabulary: int, *, tied: bool):
        super().__init__()
        # normed states on the words' vectors (`WordEmbedding`) give logits of a spread of about 1
        self.scale = (0.3 * size**0.5) ** -1
        self.weight = None if tied else nn.Parameter(torch.randn(vocabulary, size) * size**-0.5)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    @torch.no_grad()
    def expect(self, counts: Tensor) -> None:
        """Begin with how often each word [V] was said: a bias moves slowly, and frequencies span ten nats."""
        likely = (counts.float() + 0.5).log()
        self.bias.copy_(likely - likely.mean())

    def forward(self, words: nn.Embedding, states: Tensor) -> Tensor:
        if self.weight is None:
            return F.linear(states * self.scale, words.weight, self.bias)
        return F.linear(states, self.weight, self.bias)
