"""A small Transformer decoder that writes from a vocabulary or copies from its source.

u_t = blocks(u_<t, memory)                        pre-norm, with a cache of keys and values
P_word(w) = softmax(E W u_t + b)                  E: the encoder's word embeddings, shared
P_copy(i) = softmax_i(memory_i . V u_t)           over the source's tokens
P(w) = g P_word(w) + (1 - g) sum_{i: s_i = w} P_copy(i),   g = sigmoid(v u_t)
                                                  (the pointer-generator of See et al. 2017)

The first input is a task token, with an id behind the vocabulary: what is to be written (`TASKS`).

E is shared but not trained from here (it is detached). A softmax over all words pulls hard at every row of E,
and reading and ranking go through the same table; the decoder adapts with W instead, and its gradient is 60
times smaller than E's would be. Whoever brings a table of the decoder's own says so (`learns_words`).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

TASKS = ("persona", "reply")


class DecoderState(NamedTuple):
    """Everything a step needs but the last token. All are batch first, so that a search can pick rows.

    `keys`, `values` [B, layers, heads, t, d / heads] of what was written; `memory_keys`, `memory_values`
    likewise of the source, [..., S, ...]; `memory` [B, S, d], `mask` and `ids` [B, S].
    """

    keys: Tensor
    values: Tensor
    memory_keys: Tensor
    memory_values: Tensor
    memory: Tensor
    mask: Tensor
    ids: Tensor


class Distribution(NamedTuple):
    """The parts of P, in logarithms: [B, T, V] of words, [B, T, S] of the source's tokens, [B, T] of g."""

    words: Tensor
    copies: Tensor
    writes: Tensor  # log g
    points: Tensor  # log (1 - g)


class Decoder(nn.Module):
    def __init__(
        self,
        size: int,
        vocabulary: int,
        *,
        layers: int = 4,
        heads: int = 6,
        inner: int = 2,  # width of the feed-forward layers, as a multiple of `size`
        longest: int = 64,  # tokens that can be written
        dropout: float = 0.1,
        learns_words: bool = False,  # whether a gradient flows into E
    ):
        super().__init__()
        self.size, self.vocabulary, self.heads, self.longest = size, vocabulary, heads, longest
        self.learns_words = learns_words
        self.tasks = nn.Embedding(len(TASKS), size)
        self.positions = nn.Embedding(longest + 1, size)
        self.word_norm = nn.LayerNorm(size)
        # What is read: a token's state, the token itself, and the token before it. With the last, "what comes
        # after the word I have just copied" is one lookup, and need not be learned from few examples.
        self.memory = nn.Linear(3 * size, size)
        self.blocks = nn.ModuleList([_Block(size, heads, inner * size, dropout) for _ in range(layers)])
        self.norm = nn.LayerNorm(size)
        self.word_projection = nn.Linear(size, size)  # W
        self.word_bias = nn.Parameter(torch.zeros(vocabulary))  # b
        self.copy_projection = nn.Linear(size, size)  # V
        self.switch = nn.Linear(size, 1)  # v
        self.dropout = nn.Dropout(dropout)
        for embedding in (self.tasks, self.positions):
            nn.init.normal_(embedding.weight, std=0.02)

    def task_token(self, task: str) -> int:
        return self.vocabulary + TASKS.index(task)

    def start(self, states: Tensor, ids: Tensor, mask: Tensor, table: Tensor) -> DecoderState:
        """The state before anything is written: source states [B, S, d], their ids and mask [B, S], E [V, d]."""
        words = self.word_norm(F.embedding(ids, self._own(table)))
        before = F.pad(words[:, :-1], (0, 0, 1, 0))
        memory = self.memory(torch.cat([states.to(words.dtype), words, before], -1))
        pairs = [block.read(memory) for block in self.blocks]  # type: ignore[operator]
        memory_keys = torch.stack([keys for keys, _ in pairs], 1)
        memory_values = torch.stack([values for _, values in pairs], 1)
        nothing = memory_keys[..., :0, :]
        return DecoderState(nothing, nothing, memory_keys, memory_values, memory, mask, ids)

    def distribution(
        self, tokens: Tensor, state: DecoderState, table: Tensor
    ) -> tuple[Distribution, DecoderState]:
        """What may come after each of `tokens` [B, T], which follow what the state has seen.

        Several tokens at once (training) must be the first ones: the mask of the future is only made for those.
        """
        length, seen = tokens.shape[1], state.keys.shape[3]
        if length > 1 and seen:
            raise ValueError("several tokens at once can only be read at the beginning")
        positions = self.positions(torch.arange(seen, seen + length, device=tokens.device))
        hidden = self.dropout(self._embed(tokens, table) + positions)
        keys, values = [], []
        source = state.mask[:, None, None, :].bool()  # [B, 1, 1, S]
        for number, block in enumerate(self.blocks):
            hidden, key, value = block(
                hidden,
                state.keys[:, number],
                state.values[:, number],
                state.memory_keys[:, number],
                state.memory_values[:, number],
                source,
            )
            keys.append(key)
            values.append(value)
        hidden = self.norm(hidden)
        # Probabilities in float32, whatever the rest is computed in.
        words = F.linear(self.word_projection(hidden), self._own(table).to(hidden.dtype)).float()
        copies = (
            self.copy_projection(hidden) @ state.memory.transpose(1, 2)
        ).float() * self.size**-0.5  # [B, T, S]
        copies = copies.masked_fill(~source.squeeze(1), torch.finfo(torch.float32).min)
        switch = self.switch(hidden).float().squeeze(-1)
        found = Distribution(
            (words + self.word_bias).log_softmax(-1),
            copies.log_softmax(-1),
            F.logsigmoid(switch),
            F.logsigmoid(-switch),
        )
        return found, state._replace(keys=torch.stack(keys, 1), values=torch.stack(values, 1))

    def likelihood(self, tokens: Tensor, targets: Tensor, state: DecoderState, table: Tensor) -> Tensor:
        """log P of each target [B, T] after its tokens: what training wants, without P of every word."""
        found, _ = self.distribution(tokens, state, table)
        return self.chosen(found, targets, state.ids)

    @staticmethod
    def chosen(found: Distribution, targets: Tensor, ids: Tensor) -> Tensor:
        """log P of each target [B, T], written or copied from a source with these `ids` [B, S]."""
        written = found.writes + found.words.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
        there = targets.unsqueeze(-1) == ids.unsqueeze(1)  # [B, T, S]
        lowest = torch.finfo(torch.float32).min
        copied = found.points + found.copies.masked_fill(~there, lowest).logsumexp(-1)
        return torch.logaddexp(written, copied.clamp(min=lowest))

    def step(self, tokens: Tensor, state: DecoderState, table: Tensor) -> tuple[Tensor, DecoderState]:
        """log P [B, V] of the next word, after one more token [B]."""
        found, state = self.distribution(tokens[:, None], state, table)
        words = (found.writes[..., None] + found.words).exp()[:, 0]
        copies = (found.points[..., None] + found.copies).exp()[:, 0]
        mixed = words.scatter_add(-1, state.ids, copies)
        return mixed.clamp(min=torch.finfo(torch.float32).tiny).log(), state

    def _own(self, table: Tensor) -> Tensor:
        return table if self.learns_words else table.detach()

    def _embed(self, tokens: Tensor, table: Tensor) -> Tensor:
        is_task = (tokens >= self.vocabulary).unsqueeze(-1)
        words = self.word_norm(F.embedding(tokens.clamp(max=self.vocabulary - 1), self._own(table)))
        return torch.where(is_task, self.tasks((tokens - self.vocabulary).clamp(min=0)), words)


class _Block(nn.Module):
    """x + self-attention, + attention to the source, + feed-forward; each behind a norm of its own."""

    def __init__(self, size: int, heads: int, inner: int, dropout: float):
        super().__init__()
        self.heads, self.chance = heads, dropout
        self.norms = nn.ModuleList([nn.LayerNorm(size) for _ in range(3)])
        self.query_key_value = nn.Linear(size, 3 * size)
        self.own_output = nn.Linear(size, size)
        self.source_query = nn.Linear(size, size)
        self.source_key_value = nn.Linear(size, 2 * size)
        self.source_output = nn.Linear(size, size)
        self.forward_layers = nn.Sequential(nn.Linear(size, inner), nn.GELU(), nn.Linear(inner, size))
        self.dropout = nn.Dropout(dropout)

    def read(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values [B, heads, S, d / heads] of the source: the same at every step."""
        keys, values = self.source_key_value(memory).chunk(2, -1)
        return self._split(keys), self._split(values)

    def forward(
        self,
        hidden: Tensor,  # [B, T, d]
        old_keys: Tensor,
        old_values: Tensor,
        memory_keys: Tensor,
        memory_values: Tensor,
        source: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = map(self._split, self.query_key_value(self.norms[0](hidden)).chunk(3, -1))
        keys, values = torch.cat([old_keys, key], 2), torch.cat([old_values, value], 2)
        chance = self.chance if self.training else 0.0
        several = bool(hidden.shape[1] > 1)  # while the export traces this, a length is a tensor
        seen = F.scaled_dot_product_attention(query, keys, values, dropout_p=chance, is_causal=several)
        hidden = hidden + self.dropout(self.own_output(_join(seen)))
        query = self._split(self.source_query(self.norms[1](hidden)))
        read = F.scaled_dot_product_attention(
            query, memory_keys, memory_values, attn_mask=source, dropout_p=chance
        )
        hidden = hidden + self.dropout(self.source_output(_join(read)))
        hidden = hidden + self.dropout(self.forward_layers(self.norms[2](hidden)))
        return hidden, keys, values

    def _split(self, vectors: Tensor) -> Tensor:
        """[B, T, d] to [B, heads, T, d / heads]."""
        return vectors.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def _join(vectors: Tensor) -> Tensor:
    return vectors.transpose(1, 2).flatten(-2)
