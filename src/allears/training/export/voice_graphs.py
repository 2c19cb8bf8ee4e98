"""What a small generator computes, laid out for an exported graph: the same numbers as `nn.decoder`, fewer copies.

The state of a search lies in one array for each layer, so that no step has to cut it apart. Rows that answer the same
prompt share its source: row r of R reads source r mod G, where G divides R. So three proposals cost one reading, and
every step goes through a source once for all of them.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.models.generation.pal import PAL
from allears.models.generation.writer import SmallDecoder
from allears.nn.inputs import Inputs

LOWEST = -1e9  # added to the affinity of what is padding


class MixGraph(nn.Module):
    """PAL's equations 2 to 4: H_D [B, n, d] and H_P [B, m, d] to H_final, its ids and its mask."""

    def __init__(self, model: PAL):
        super().__init__()
        self.model = model

    def forward(
        self,
        dialogue: Tensor,
        dialogue_ids: Tensor,
        dialogue_mask: Tensor,
        persona: Tensor,
        persona_ids: Tensor,
        persona_mask: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        nothing = torch.zeros_like(dialogue_ids), torch.zeros_like(persona_ids)
        memory = self.model.mix(
            dialogue,
            persona,
            Inputs(dialogue_ids, dialogue_mask, nothing[0]),
            Inputs(persona_ids, persona_mask, nothing[1]),
        )
        return memory.states, memory.ids, memory.mask


class MemoryGraph(nn.Module):
    """States [G, S, d], ids and mask [G, S] to what every step reads of them: which places hold the same word
    [G, S, S], what is added to the affinity of each [G, 1, 1, S], memory [G, S, d]; then for each layer keys and values
    [G, heads, S, d / heads]."""

    def __init__(self, writer: SmallDecoder):
        super().__init__()
        self.decoder = writer.decoder

    def forward(self, states: Tensor, ids: Tensor, mask: Tensor, table: Tensor) -> tuple[Tensor, ...]:
        decoder = self.decoder
        words = decoder.word_norm(F.embedding(ids, table))  # nobody says a strategy: all ids are words
        before = F.pad(words[:, :-1], (0, 0, 1, 0))
        memory = decoder.memory(torch.cat([states, words, before], -1))
        pairs = [block.read(memory) for block in decoder.blocks]  # type: ignore[operator]
        alike = (ids.unsqueeze(1) == ids.unsqueeze(2)).float()
        padding = (1 - mask.float())[:, None, None, :] * LOWEST
        return alike, padding, memory, *(part for pair in pairs for part in pair)


class StepGraph(nn.Module):
    """One more token [R] and the state to mix @ log P [O, V] of the next word, and the longer caches.

    P is that of `nn.decoder`, written without a pass over all words for each part of it: log g + log P_word
    everywhere, and at the words of the source, each of which may stand there several times, what copying adds. (A
    word less likely than float32 can say has its logarithm here; there, the least that it can say.)

    `mix` is what a search makes of the rows: the identity, or equation 6 of each pair of branches. It stands behind
    the logarithms and not before the projection to the vocabulary, since log P is not linear in the hidden states:
    what copying adds at a word depends on the sum over all words in each branch. And little would be gained: for two
    rows that product costs about what it does for one.
    """

    def __init__(self, writer: SmallDecoder):
        super().__init__()
        self.decoder, self.words, self.strategies = writer.decoder, writer.words, writer.strategies
        self.strategy_output = nn.Linear(writer.decoder.size, len(writer.strategies.weight), bias=False)
        self.strategy_output.weight = writer.strategies.weight
        self.layers = nn.ModuleList([_Advance(block) for block in writer.decoder.blocks])
        self.looks = _Query(writer.decoder.copy_projection, writer.decoder.size, heads=1)

    def forward(
        self,
        tokens: Tensor,  # [R]
        mix: Tensor,  # [O, R]
        ids: Tensor,  # [G, S]
        alike: Tensor,
        padding: Tensor,
        memory: Tensor,
        table: Tensor,  # [words, d]
        *state: Tensor,  # of each layer: its source's keys and values, then the cache's [R, heads, t, d / heads]
    ) -> tuple[Tensor, ...]:
        decoder = self.decoder
        position = decoder.positions.weight[state[2].shape[2]]
        hidden = (self._embed(tokens, table) + position).reshape(-1, ids.shape[0], decoder.size)  # [P, G, d]
        shape = hidden  # reshaping like the same tensor asks for its shape once
        split = hidden.reshape(-1, ids.shape[0], decoder.heads, decoder.size // decoder.heads)
        caches: list[Tensor] = []
        for number, layer in enumerate(self.layers):
            hidden, *cache = layer(hidden, shape, split, padding, *state[4 * number : 4 * number + 4])
            caches += cache
        words, gate = self._likely(decoder.norm(hidden), ids, alike, padding, memory, table)
        return torch.addmm(mix @ gate, mix, words), *caches

    def _likely(
        self, hidden: Tensor, ids: Tensor, alike: Tensor, padding: Tensor, memory: Tensor, table: Tensor
    ) -> tuple[Tensor, Tensor]:
        """log P [R, V] as a sum of two: log P - log g, and log g [R, 1], which waits until rows are mixed."""
        decoder = self.decoder
        switch = decoder.switch(hidden)
        words = decoder.word_projection(hidden)
        likely = torch.cat([F.linear(words, table), self.strategy_output(words)], -1) + decoder.word_bias
        written, gate = likely.log_softmax(-1).flatten(0, 1), F.logsigmoid(switch).flatten(0, 1)
        asked = self.looks(hidden, hidden.unsqueeze(2))[:, 0]  # [G, P, d]
        looks = asked @ memory.transpose(1, 2) + padding[:, 0]  # [G, P, S]
        shares = looks.softmax(-1) @ alike  # of each place's word, wherever it stands
        copied = (switch.neg().sigmoid() * shares.transpose(0, 1)).flatten(0, 1)  # [R, S]
        places = ids.expand(hidden.shape[0], -1, -1).flatten(0, 1)
        there = (written.gather(1, places) + gate).exp() + copied
        both = there.clamp(min=torch.finfo(torch.float32).tiny).log() - gate
        return written.scatter(1, places, both), gate

    def _embed(self, tokens: Tensor, table: Tensor) -> Tensor:
        """A word, a strategy, or the token that asks for a reply."""
        decoder = self.decoder
        words = F.embedding(tokens.clamp(max=self.words - 1), table)
        last = len(self.strategies.weight) - 1
        strategies = self.strategies((tokens - self.words).clamp(min=0, max=last))
        found = decoder.word_norm(torch.where((tokens >= self.words).unsqueeze(-1), strategies, words))
        tasks = decoder.tasks((tokens - decoder.vocabulary).clamp(min=0))
        return torch.where((tokens >= decoder.vocabulary).unsqueeze(-1), tasks, found)


class _Advance(nn.Module):
    """`nn.decoder._Block.forward` for one more token."""

    def __init__(self, block: Any):
        super().__init__()
        self.block, self.heads = block, block.heads
        size = block.own_output.in_features
        self.width = size // self.heads
        self.query_key_value = _scaled(block.query_key_value, self.width**-0.5, size)
        self.source_query = _Query(block.source_query, self.width, heads=self.heads)

    def forward(
        self,
        hidden: Tensor,  # [P, G, d]
        shape: Tensor,  # of that shape
        split: Tensor,  # of the shape [P, G, heads, d / heads]
        padding: Tensor,
        source_keys: Tensor,
        source_values: Tensor,
        old_keys: Tensor,
        old_values: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        block = self.block
        parts = self.query_key_value(block.norms[0](hidden)).reshape(-1, 3 * self.heads, 1, self.width)
        query, key, value = parts.split(self.heads, 1)  # [R, heads, 1, width]
        keys, values = torch.cat([old_keys, key], 2), torch.cat([old_values, value], 2)
        seen = (query @ keys.transpose(2, 3)).softmax(-1) @ values
        hidden = hidden + block.own_output(seen.reshape_as(shape))
        query = self.source_query(block.norms[1](hidden), split)
        affinity = query @ source_keys.transpose(2, 3) + padding
        read = affinity.softmax(-1) @ source_values  # [G, heads, P, width]
        hidden = hidden + block.source_output(read.permute(2, 0, 1, 3).reshape_as(shape))
        return hidden + block.forward_layers(block.norms[2](hidden)), keys, values


class _Query(nn.Module):
    """A projection of [P, G, d] as [G, heads, P, d / heads], divided by the root of `width`.

    The bias is added last: onnxruntime would otherwise turn the vectors round inside the product that follows, and a
    product with one turned row is several times as slow. For the same reason the scale is in the weights.
    """

    def __init__(self, projection: nn.Linear, width: int, *, heads: int):
        super().__init__()
        scaled = _scaled(projection, width**-0.5, projection.out_features)
        self.projection = nn.Linear(projection.in_features, projection.out_features, bias=False)
        self.projection.weight = scaled.weight
        self.bias = nn.Parameter(scaled.bias.detach().reshape(heads, 1, -1))

    def forward(self, hidden: Tensor, split: Tensor) -> Tensor:
        return self.projection(hidden).reshape_as(split).permute(1, 2, 0, 3) + self.bias


def _scaled(projection: nn.Linear, scale: float, outputs: int) -> nn.Linear:
    """A copy whose first `outputs` numbers are scaled."""
    found = copy.deepcopy(projection)
    with torch.no_grad():
        found.weight[:outputs] *= scale
        found.bias[:outputs] *= scale
    return found
