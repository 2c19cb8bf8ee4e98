"""A pretrained encoder as a `TokenEncoder`: mean-pooled sentences, and the states of their tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from allears.models.reader.sentence_encoder import BATCH, Vectors, sentence_tokens, unit
from allears.nn.encoder import encoder_tokenizer
from allears.nn.inputs import Inputs
from allears.nn.pooling import masked_mean
from allears.nn.pretrained import load_encoder


class TorchSentences:
    def __init__(self, name: str | Path, device: str = "cpu"):
        self.encoder, self.tokenizer = (
            load_encoder(name).eval().to(device),
            encoder_tokenizer(name),
        )
        self.device = device

    def vectors(self, texts: Sequence[str]) -> Vectors:
        found = np.zeros((len(texts), self.encoder.size), np.float32)
        for rows, inputs, states in self._batches(texts):
            found[rows] = masked_mean(states, inputs.mask).float().cpu().numpy()
        return unit(found)

    def states(self, texts: Sequence[str]) -> list[Vectors]:
        found: dict[int, Vectors] = {}
        for rows, inputs, states in self._batches(texts):
            for row, mask, each in zip(rows, inputs.mask, states.float().cpu().numpy(), strict=True):
                found[row] = each[1 : int(mask.sum()) - 1]
        return [found[row] for row in range(len(texts))]

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Inputs, torch.Tensor]]:
        """All texts, those of similar length together."""
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            inputs = Inputs.from_tokens(sentence_tokens([texts[row] for row in rows], self.tokenizer)).to(
                self.device
            )
            with torch.inference_mode():
                yield rows, inputs, self.encoder(inputs)
