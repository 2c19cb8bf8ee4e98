"""A moving average of the weights: what is evaluated and saved when a recipe sets `training.average`.

A run's last weights jump about the valley that it found; their average lies nearer its floor. That helps most where
there is little data and a metric is noisy from step to step.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Average:
    """Exponential, with a memory of about 1 / (1 - `decay`) steps; shorter at first, so that the start is forgotten.
    A decay of 0 keeps nothing and changes nothing."""

    def __init__(self, model: nn.Module, decay: float):
        self.decay = decay
        learned = {name: value for name, value in model.named_parameters() if decay and value.requires_grad}
        self._names, self._live = list(learned), [value.data for value in learned.values()]
        self._kept = [value.float().clone() for value in self._live]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Hear the weights after optimiser step `step`, counted from 1."""
        if not self._kept:
            return
        decay = min(self.decay, step / (step + 9))
        torch._foreach_lerp_(self._kept, [value.float() for value in self._live], 1 - decay)

    @contextmanager
    def worn(self) -> Iterator[None]:
        """The model has the averaged weights inside, and its own again afterwards."""
        own = [value.clone() for value in self._live]
        self._set(self._live, self._kept)
        try:
            yield
        finally:
            self._set(self._live, own)

    def tensors(self) -> dict[str, Tensor]:
        return dict(zip(self._names, self._kept, strict=True))

    def restore(self, tensors: dict[str, Tensor]) -> None:
        self._set(self._kept, [tensors[name] for name in self._names])

    @staticmethod
    def _set(places: list[Tensor], values: list[Tensor]) -> None:
        for place, value in zip(places, values, strict=True):
            place.copy_(value)
