"""What generators on a torch device share: a model with its card and tokenizer, and likelihoods batch by batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from allears.models.generation.dataset import PairDataset
from allears.models.generation.examples import GenerationExample
from allears.runtime.generating import in_order
from allears.runtime.generator import Likelihood, Prompt

Model = TypeVar("Model", bound=nn.Module)
Dataset = TypeVar("Dataset", bound=PairDataset[Any])


class TorchReplies(ABC, Generic[Model, Dataset]):
    def __init__(self, model: Model, card: Any, tokenizer: Any, *, device: str, batch: int):
        self.model: Model = model.to(device)
        self.module: nn.Module = model
        self.card, self.tokenizer, self.device, self.batch = card, tokenizer, device, batch

    @abstractmethod
    def _dataset(self, examples: Sequence[GenerationExample], seeds: Sequence[int] | None) -> Dataset:
        """Examples as the model reads them; `seeds` are those that each reply is written with."""

    @abstractmethod
    def measured(self, batch: Any) -> Tensor:
        """log P [B, T] of a batch's targets."""

    def _counted(self, mask: Tensor, prompts: Sequence[Prompt]) -> Tensor:
        """Which of the targets [B, T] are the response's."""
        return mask

    @torch.inference_mode()
    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        """Of each response, as `Generator.log_likelihood` says."""
        return in_order(
            len(prompts),
            (
                (rows, self._likelihoods(data, rows, [prompts[row] for row in rows]))
                for rows, data in self._parts(prompts, responses)
            ),
        )

    def _likelihoods(self, data: Dataset, rows: list[int], prompts: Sequence[Prompt]) -> list[Likelihood]:
        batch = data.batch(rows).to(self.device)
        likely, counted = self.measured(batch), self._counted(batch.mask, prompts)
        sums, numbers = (likely.double() * counted).sum(1).tolist(), counted.sum(1).tolist()
        return [
            Likelihood(total, int(number), bool(data.targets[row][-1] != self.tokenizer.end))
            for row, total, number in zip(rows, sums, numbers, strict=True)
        ]

    def _parts(
        self,
        prompts: Sequence[Prompt],
        responses: Sequence[str] | None = None,
        seeds: Sequence[int] | None = None,
    ) -> Iterator[tuple[list[int], Dataset]]:
        """Everything tokenized once, then in batches of about the same length."""
        if not prompts:
            return
        self.module.eval()
        texts = [""] * len(prompts) if responses is None else responses
        examples = [GenerationExample(prompt, text) for prompt, text in zip(prompts, texts, strict=True)]
        data = self._dataset(examples, seeds)
        for rows in data.parts(self.batch):
            yield rows, data

    def autocast(self) -> torch.autocast:
        return torch.autocast("cuda", torch.bfloat16, enabled=str(self.device).startswith("cuda"))
