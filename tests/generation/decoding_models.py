"""Small models for the tests of decoding: a table of numbers, and a decoder with a cache."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from array_api_compat import array_namespace
from torch import Tensor, nn

END = 0


class Chain:
    """Logits that follow from the last two tokens. The state must be that of the tokens it comes with."""

    def __init__(self, seed: int, words: int = 5, library: Any = np):
        numbers = np.random.default_rng(seed).normal(size=(words + 1, words + 1, words)) * 2
        self.table = numbers if library is np else torch.from_numpy(numbers)
        self.library, self.words = library, words

    def begin(self, rows: int) -> tuple[tuple[Any, ...], Any]:
        start = np.full(rows, self.words)
        state = (np.full((rows, 1), self.words),)
        if self.library is np:
            return state, start
        return (torch.from_numpy(state[0]),), torch.from_numpy(start)

    def step(self, tokens: Any, state: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        xp = array_namespace(tokens)
        (past,) = state
        return self.table[past[:, -1], tokens], (xp.concat([past, tokens[:, None]], axis=1),)

    def logits(self, tokens: tuple[int, ...]) -> np.ndarray:
        """What may come after these tokens."""
        past, last = (self.words, self.words, *tokens)[-2:]
        return np.asarray(self.table)[past, last]

    def score(self, tokens: tuple[int, ...]) -> float:
        """log P of these tokens and the end."""
        whole = (*tokens, END)
        rows = [self.logits(whole[:place]) for place in range(len(whole))]
        return sum(row[token] - np.log(np.exp(row).sum()) for row, token in zip(rows, whole, strict=True))


class CachedDecoder(nn.Module):
    """One layer of attention over what was written. `step` keeps keys and values; `step_anew` computes all again."""

    def __init__(self, words: int = 30, size: int = 16, longest: int = 64):
        super().__init__()
        self.words, self.size = words, size
        self.embedding = nn.Embedding(words + 1, size)  # the last is the start
        self.positions = nn.Embedding(longest, size)
        self.query, self.key, self.value = (nn.Linear(size, size) for _ in range(3))
        self.output = nn.Linear(size, words)
        nn.init.normal_(self.output.weight, std=1.5)

    def begin(self, rows: int) -> Tensor:
        return torch.full((rows,), self.words)

    def empty_cache(self, context: Tensor) -> tuple[Tensor, ...]:
        """`context` [B, d] tells the rows apart."""
        nothing = torch.zeros(len(context), 0, self.size)
        return context, nothing, nothing

    def no_tokens(self, context: Tensor) -> tuple[Tensor, ...]:
        return context, torch.zeros(len(context), 0, dtype=torch.int64)

    @torch.inference_mode()
    def step(self, tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        context, keys, values = state
        hidden = self._embed(tokens[:, None], context, keys.shape[1])
        keys, values = torch.cat([keys, self.key(hidden)], 1), torch.cat([values, self.value(hidden)], 1)
        seen = nn.functional.scaled_dot_product_attention(self.query(hidden), keys, values)
        return self.output(hidden + seen)[:, -1], (context, keys, values)

    @torch.inference_mode()
    def step_anew(self, tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        context, past = state
        past = torch.cat([past, tokens[:, None]], 1)
        hidden = self._embed(past, context, 0)
        seen = nn.functional.scaled_dot_product_attention(
            self.query(hidden), self.key(hidden), self.value(hidden), is_causal=True
        )
        return self.output(hidden + seen)[:, -1], (context, past)

    def _embed(self, tokens: Tensor, context: Tensor, seen: int) -> Tensor:
        places = torch.arange(seen, seen + tokens.shape[1])
        return self.embedding(tokens) + self.positions(places) + context[:, None]
