"""Generation examples as chats, tokenized once and cut into padded batches: one row is a prompt and its response."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from allears.models.generation.dataset import ReplyDataset, as_ids, padded
from allears.models.generation.examples import GenerationExample
from allears.runtime.chat_layout import ChatLayout


class CausalBatch(NamedTuple):
    """Ids [B, T], padded on the right; and for each token of the responses [N] what it is (`targets`), and the row
    and the place before it, from which it is told."""

    ids: Tensor
    rows: Tensor
    places: Tensor
    targets: Tensor

    def to(self, device: torch.device | str) -> CausalBatch:
        return CausalBatch(*(part.to(device, non_blocking=True) for part in self))


class CausalDataset(ReplyDataset[CausalBatch]):
    def __init__(
        self,
        examples: Sequence[GenerationExample],
        layout: ChatLayout,
        groups: Sequence[int] | None = None,
    ):
        prompts = [example.prompt for example in examples]
        rows = layout.rows(prompts)
        self.heads, self.personas, self.tails = (
            [as_ids(part) for part in column] for column in zip(*rows, strict=True)
        )
        targets = layout.targets(prompts, [example.response for example in examples])
        lengths = [sum(map(len, row)) for row in rows]
        super().__init__(examples, [as_ids(target) for target in targets], lengths, groups)

    def _learned_from(self) -> Iterator[bytes]:
        for column in (self.heads, self.personas, self.targets):
            yield from (ids.tobytes() + b"\0" for ids in column)

    def batch(self, rows: Sequence[int], without: Sequence[bool] = ()) -> CausalBatch:
        """`without`: which of these rows do not show their persona."""
        nobody = as_ids([])
        hidden = without or [False] * len(rows)
        whole, lengths = [], []
        for row, bare in zip(rows, hidden, strict=True):
            prompt = (self.heads[row], nobody if bare else self.personas[row], self.tails[row])
            lengths.append(sum(map(len, prompt)))
            whole.append(np.concatenate([*prompt, self.targets[row][:-1]]))  # the last is only told
        ids, _ = padded(whole, 0)
        counts = self.target_lengths[list(rows)]
        begins = np.repeat(np.array(lengths) - 1, counts)
        numbers = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        return CausalBatch(
            ids,
            torch.from_numpy(np.repeat(np.arange(len(whole)), counts)),
            torch.from_numpy(begins + numbers),
            torch.from_numpy(np.concatenate([self.targets[row] for row in rows]).astype(np.int64)),
        )
