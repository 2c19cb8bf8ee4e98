"""Generation examples as chats, tokenized once and cut into padded batches: one row is a prompt and its response."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from allears.models.generation.dataset import LengthBatches, as_ids
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


class CausalDataset(LengthBatches):
    """`groups` numbers the corpus of each example, for `batches`."""

    def __init__(
        self,
        examples: Sequence[GenerationExample],
        layout: ChatLayout,
        groups: Sequence[int] | None = None,
    ):
        self.examples = list(examples)
        prompts = [example.prompt for example in self.examples]
        rows = layout.rows(prompts)
        self.heads, self.personas, self.tails = (
            [as_ids(part) for part in column] for column in zip(*rows, strict=True)
        )
        targets = layout.targets(prompts, [example.response for example in self.examples])
        self.targets = [as_ids(target) for target in targets]
        self.context_lengths = np.array(
            [sum(map(len, parts)) for parts in zip(self.heads, self.personas, self.tails, strict=True)],
            np.int64,
        )
        self.target_lengths = np.array([len(target) for target in self.targets], np.int64)
        self.groups = np.zeros(len(self.examples), np.int64) if groups is None else np.asarray(groups)

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def fingerprint(self) -> str:
        """Changes when any text, persona or strategy of the data does."""
        digest = hashlib.sha256()
        for column in (self.heads, self.personas, self.targets):
            for ids in column:
                digest.update(ids.tobytes() + b"\0")
        return digest.hexdigest()[:16]

    def batch(self, rows: Sequence[int], without: Sequence[bool] = ()) -> CausalBatch:
        """`without`: which of these rows do not show their persona."""
        nobody = as_ids([])
        hidden = without or [False] * len(rows)
        whole, lengths = [], []
        for row, bare in zip(rows, hidden, strict=True):
            prompt = (self.heads[row], nobody if bare else self.personas[row], self.tails[row])
            lengths.append(sum(map(len, prompt)))
            whole.append(np.concatenate([*prompt, self.targets[row][:-1]]))  # the last is only told
        mask = np.arange(max(map(len, whole))) < np.array([len(each) for each in whole])[:, None]
        ids = np.zeros(mask.shape, np.int64)
        ids[mask] = np.concatenate(whole)
        counts = self.target_lengths[list(rows)]
        begins = np.repeat(np.array(lengths) - 1, counts)
        numbers = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        return CausalBatch(
            torch.from_numpy(ids),
            torch.from_numpy(np.repeat(np.arange(len(whole)), counts)),
            torch.from_numpy(begins + numbers),
            torch.from_numpy(np.concatenate([self.targets[row] for row in rows]).astype(np.int64)),
        )
