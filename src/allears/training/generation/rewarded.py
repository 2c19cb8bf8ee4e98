"""Learning from what drawn replies earn (self-critical, REINFORCE with a leave-one-out baseline).

y_1 .. y_K ~ P(. | prompt, strategy)                     K replies, drawn with the present weights
A_k  = advantage of y_k                                  (`rewards.py`)
L    = -1/N sum_k A_k sum_t log P(y_k,t | prompt, strategy, y_k,<t)      N: all drawn tokens of the batch

P is what a generator draws from: at the given temperature, without marks and strategies among the words. An end is a
token of its reply; a reply that was cut has none.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from allears.metrics.diversity import distinct_n
from allears.models.generation.causal_dataset import CausalDataset
from allears.models.generation.causal_model import CausalModel, padded
from allears.runtime.chat_layout import ChatLayout
from allears.runtime.generator import STRATEGIES
from allears.training.generation.rewards import RewardOptions, advantages, overlap, rewards
from allears.training.loop import Backward

DRAWN_AT_ONCE = 512  # replies; those of one prompt stay together
LEARNED_AT_ONCE = 256  # replies whose activations are kept
LOOK_EVERY = 4  # tokens between two looks whether all replies have ended: each waits for the GPU

Tokens = list[int]
Draws = list[list[list[int]]]  # of each prompt: each draw's tokens, its end among them


class Rewarded:
    def __init__(
        self, model: CausalModel, layout: ChatLayout, options: RewardOptions, *, strategy_first: bool
    ):
        self.model, self.layout, self.options = model, layout, options
        self.strategy_first = strategy_first
        self.longest = min(options.longest, layout.limits.response_tokens)
        self.merged: CausalModel | None = None
        self.bar = torch.zeros(layout.words + len(STRATEGIES))  # what a reply has no words for
        self.bar[[*layout.unwritable, *layout.strategy_tokens.values()]] = -torch.inf

    def step(
        self,
        data: CausalDataset,
        rows: Sequence[int],
        without: Sequence[bool],
        device: torch.device,
        backward: Backward,
    ) -> Tensor:
        """Draw, reward, and hand the loss backward in parts. `without`: which rows do not show their persona."""
        prompts, draws = self.draw(data, rows, without, device, count=self.options.draws)
        gold = [data.examples[row].response for row in rows]
        gains = advantages(rewards(self._texts(draws), gold, self.options))
        tokens = sum(len(draw) for own in draws for draw in own)
        total = torch.zeros((), device=device)
        for part in _parts(len(rows), LEARNED_AT_ONCE // self.options.draws):
            loss = self._surprise(prompts[part], draws[part], gains[part], device) / tokens
            backward(loss)
            total += loss.detach()
        return total

    def measure(
        self, data: CausalDataset, rows: Sequence[int], device: torch.device, seed: int
    ) -> dict[str, float]:
        """One draw for each row: `reward`, its mean overlap with what the person wrote, and `drawn_distinct_2`."""
        torch.manual_seed(seed)
        _, draws = self.draw(data, rows, [False] * len(rows), device, count=1)
        texts = [own[0] for own in self._texts(draws)]
        weights = {"rouge": self.options.rouge, "bleu": self.options.bleu}
        earned = [
            overlap(text, data.examples[row].response, **weights)
            for text, row in zip(texts, rows, strict=True)
        ]
        return {"reward": float(np.mean(earned)), "drawn_distinct_2": distinct_n(texts, 2)}

    @torch.inference_mode()
    def draw(
        self,
        data: CausalDataset,
        rows: Sequence[int],
        without: Sequence[bool],
        device: torch.device,
        *,
        count: int,
    ) -> tuple[list[Tokens], Draws]:
        """Each row's prompt with its strategy (the person's, or else one that the model draws), and so many draws."""
        found: Draws = []
        prompts = [self._prompt(data, row, bare) for row, bare in zip(rows, without, strict=True)]
        with torch.autocast(device.type, enabled=False):  # whatever the step around this says
            self.merged = merge(self.model, self.merged, device)
            prompts = self._with_strategies(self.merged, prompts)
            for part in _parts(len(rows), DRAWN_AT_ONCE // count):
                tokens = self._write(self.merged, prompts[part], count).tolist()
                found += (tokens[start : start + count] for start in range(0, len(tokens), count))
        end = self.layout.tokenizer.end
        return prompts, [
            [draw[: draw.index(end) + 1] if end in draw else draw for draw in own] for own in found
        ]

    def _prompt(self, data: CausalDataset, row: int, bare: bool) -> Tokens:
        first = data.targets[row][:1]
        strategy = first[first >= self.layout.first_strategy]
        persona = data.personas[row][:0] if bare else data.personas[row]
        return [*np.concatenate([data.heads[row], persona, data.tails[row], strategy]).tolist()]

    def _with_strategies(self, model: CausalModel, prompts: list[Tokens]) -> list[Tokens]:
        """All draws for a prompt have the same one, so that only their words are compared."""
        first = self.layout.first_strategy
        open_ones = [place for place, prompt in enumerate(prompts) if prompt[-1] < first]
        if not open_ones or not self.strategy_first:
            return prompts
        scores, _, _ = self._read(model, [prompts[place] for place in open_ones])
        chosen = first + _choose(scores[:, first : first + len(STRATEGIES)] / self.options.temperature)
        found = list(prompts)
        for place, strategy in zip(open_ones, chosen.tolist(), strict=True):
            found[place] = [*prompts[place], strategy]
        return found

    def _read(self, model: CausalModel, prompts: Sequence[Tokens]) -> tuple[Tensor, Any, Tensor]:
        """Logits of what follows [B, words + 8], the cache, and which of its places are real [B, T]."""
        from transformers import DynamicCache

        ids, mask = padded(prompts, model.strategies.weight.device)
        cache = DynamicCache()
        states = model.hidden(ids, cache=cache).last_hidden_state
        return model.logits(states[torch.arange(len(ids)), mask.sum(1) - 1]), cache, mask

    def _write(self, model: CausalModel, prompts: Sequence[Tokens], count: int) -> Tensor:
        """`count` draws for each prompt [B * count, at most `longest`]; behind its end a row repeats it."""
        end = self.layout.tokenizer.end
        logits, cache, mask = self._read(model, prompts)
        cache.batch_repeat_interleave(count)
        logits, mask = (part.repeat_interleave(count, 0) for part in (logits, mask))
        lengths = mask.sum(1, keepdim=True)
        seen = _additive(F.pad(mask, (0, self.longest), value=True), model.strategies.weight.dtype)
        ended = torch.zeros(len(mask), dtype=torch.bool, device=mask.device)
        drawn: list[Tensor] = []
        while True:
            token = _choose(self._scores(logits)).masked_fill(ended, end)
            drawn.append(token)
            ended |= token == end
            number = len(drawn)
            if number == self.longest or (number % LOOK_EVERY == 0 and bool(ended.all())):
                return torch.stack(drawn, 1)
            states = model.hidden(
                token[:, None],
                mask=seen[:, None, None, : mask.shape[1] + number],
                places=lengths + number - 1,
                cache=cache,
            ).last_hidden_state
            logits = model.logits(states[:, -1])

    def _scores(self, logits: Tensor) -> Tensor:
        """What words are drawn by: log P but for a constant."""
        self.bar = self.bar.to(logits.device)
        return logits / self.options.temperature + self.bar

    def _surprise(
        self,
        prompts: Sequence[Tokens],
        draws: Sequence[Sequence[Tokens]],
        gains: Any,
        device: torch.device,
    ) -> Tensor:
        """-sum_k A_k log P(y_k), of all draws of some prompts."""
        ids, places, seen, (rows, columns, targets, weights) = packed(prompts, draws, gains, device)
        mask = _additive(seen, self.model.strategies.weight.dtype)[:, None]
        states = self.model.hidden(ids, mask=mask, places=places).last_hidden_state
        scores = self._scores(self.model.logits(states[rows, columns]))
        return (weights * F.cross_entropy(scores, targets, reduction="none")).sum()

    def _texts(self, draws: Draws) -> list[list[str]]:
        """As a `CausalGenerator` says them."""
        end, text = self.layout.tokenizer.end, self.layout.tokenizer.text
        return [[text([token for token in draw if token != end]) for draw in own] for own in draws]


def merge(model: CausalModel, into: CausalModel | None, device: torch.device) -> CausalModel:
    """A copy with W + (alpha / rank) B A in place of W, in bfloat16 on a GPU, so that drawing pays for no adapters. To
    merge and unmerge in place would change the base weights by what rounding loses."""
    if into is None:
        into = copy.deepcopy(model)
        into.base.merge_adapter()  # marks them as merged; the numbers come below
        into = into.to(device, torch.bfloat16 if device.type == "cuda" else torch.float32)
        into.eval().requires_grad_(False)
    layers: Any = zip(into.modules(), model.modules(), strict=True)
    for mine, theirs in layers:
        if hasattr(theirs, "get_delta_weight"):
            delta = sum(theirs.get_delta_weight(name) for name in theirs.active_adapters)
            mine.base_layer.weight.copy_(theirs.base_layer.weight + delta)
    for name in ("strategies", "strategy_head"):
        getattr(into, name).load_state_dict(getattr(model, name).state_dict())
    return into


def packed(
    prompts: Sequence[Tokens], draws: Sequence[Sequence[Tokens]], gains: Any, device: torch.device
) -> tuple[Tensor, Tensor, Tensor, tuple[Tensor, ...]]:
    """A prompt and all its draws in one row, [prompt, y_1, y_2, ...], so that it is read once: ids and places [B, T],
    what each place sees [B, T, T] (before it in the prompt and in its own draw), and for each drawn token the row and
    column that tell it, itself, and its weight [N]."""
    whole: list[Tokens] = []
    places: list[Tokens] = []
    owners: list[Tokens] = []
    told: list[tuple[int, int, int]] = []
    for row, (prompt, own) in enumerate(zip(prompts, draws, strict=True)):
        start = len(prompt)
        ids, at, owner = list(prompt), list(range(start)), [0] * start
        for number, draw in enumerate(own, 1):
            columns = [start - 1, *range(len(ids), len(ids) + len(draw) - 1)]
            told += ((row, column, token) for column, token in zip(columns, draw, strict=True))
            ids += draw[:-1]  # the last is only told
            at += range(start, start + len(draw) - 1)
            owner += [number] * (len(draw) - 1)
        whole.append(ids)
        places.append(at)
        owners.append(owner)
    tokens, _ = padded(whole, device)
    at_places, _ = padded(places, device)
    of, _ = padded(owners, device)  # 0 is the prompt's, and so is padding, which nobody sees
    order = torch.arange(tokens.shape[1], device=device)
    mine = (of[:, None, :] == 0) | (of[:, None, :] == of[:, :, None])
    seen = mine & (order[None, :] <= order[:, None])
    rows, before, targets = torch.tensor(told, device=device).T
    counts = [len(draw) for own in draws for draw in own]
    weights = torch.from_numpy(np.repeat(np.ravel(gains), counts).astype(np.float32)).to(device)
    return tokens, at_places, seen, (rows, before, targets, weights)


def _additive(seen: Tensor, dtype: torch.dtype) -> Tensor:
    """As every kind of attention takes a mask: added to the scores."""
    return torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill(~seen, -torch.inf)


def _choose(scores: Tensor) -> Tensor:
    """A draw from softmax(scores) for each row, as `multinomial` makes it, but without waiting for the GPU."""
    chance = torch.empty_like(scores).exponential_().clamp_(min=1e-30)
    return (scores - chance.log_()).argmax(-1)


def _parts(count: int, size: int) -> Iterator[slice]:
    for start in range(0, count, max(1, size)):
        yield slice(start, start + max(1, size))
