"""A generation model with its tokenizer, on any torch device: a `Generator`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from allears.decoding import Step, interleaved
from allears.models.generation.dataset import GenerationBatch, GenerationDataset
from allears.models.generation.examples import GenerationExample
from allears.models.generation.torch_replies import TorchReplies
from allears.models.generation.writer import EncoderMemory, GenerationModel, ReadsTwice
from allears.nn.inputs import Inputs
from allears.runtime.generating import StrategyGenerator, WritingRequest
from allears.runtime.generator import STRATEGIES, Generated, Prompt
from allears.runtime.replies import Vocabulary

BATCH = 32


class TorchGenerator(TorchReplies[GenerationModel, GenerationDataset], StrategyGenerator[GenerationBatch]):
    def __init__(
        self, model: GenerationModel, card: Any, tokenizer: Any, *, device: str = "cpu", batch: int = BATCH
    ):
        super().__init__(model, card, tokenizer, device=device, batch=batch)
        self.vocabulary = Vocabulary(tokenizer, self.model.decoder.first_strategy)

    @property
    def has_branches(self) -> bool:
        return isinstance(self.model, ReadsTwice)

    def _cut(self, prompts: Sequence[Prompt]) -> Iterator[tuple[list[int], GenerationBatch]]:
        return ((rows, data.batch(rows).to(self.device)) for rows, data in self._parts(prompts))

    @torch.inference_mode()
    def _write_batch(self, request: WritingRequest, data: GenerationBatch) -> list[list[Generated]]:
        context, persona, _, _ = data
        both = self.has_branches and request.leans and bool(persona.mask.any())
        with self.autocast():
            memories = self.branches(context, persona) if both else (self.model.read(context, persona),)
            step, states, start = self._begin(*memories)
            state = interleaved(*states) if both else states[0]
            return self._replies(request, step, state, start, two_branches=both)

    def _begin(self, *memories: EncoderMemory) -> tuple[Step, list[tuple[Tensor, ...]], Tensor]:
        """The decoder's step, its state over each of the memories, and its first tokens."""
        decoder = self.model.decoder
        table = decoder.table(self.model.encoder)
        start = torch.full((len(memories[0].ids),), decoder.start, device=self.device)
        states = [tuple(decoder.begin(memory, table)) for memory in memories]
        return partial(decoder.step, table=table), states, start

    def branches(self, context: Inputs, persona: Inputs) -> tuple[EncoderMemory, EncoderMemory]:
        """What the decoder reads with the persona and without."""
        assert isinstance(self.model, ReadsTwice)  # nobody asks otherwise
        return self.model.branches(context, persona)

    def measured(self, batch: GenerationBatch) -> Tensor:
        with self.autocast():
            table = self.model.decoder.table(self.model.encoder)
            memory = self.model.read(batch.context, batch.persona)
            return self.model.decoder.likelihood(batch.targets, memory, table).targets

    def _counted(self, mask: Tensor, prompts: Sequence[Prompt]) -> Tensor:
        given = torch.tensor([prompt.strategy is not None for prompt in prompts], device=self.device)
        counted = mask.clone()
        counted[:, 0] &= ~given  # the strategy is no part of the response
        return counted

    @torch.inference_mode()
    def _strategy_shares(self, data: GenerationBatch) -> list[list[float]]:
        first = self.model.decoder.first_strategy
        with self.autocast():
            step, (state,), start = self._begin(self.model.read(data.context, data.persona))
            likely, _ = step(start, state)
        shares: list[list[float]] = likely[:, first : first + len(STRATEGIES)].float().softmax(-1).tolist()
        return shares

    def _dataset(
        self, examples: Sequence[GenerationExample], seeds: Sequence[int] | None = None
    ) -> GenerationDataset:
        return dataset_for_model(self.model, self.card, self.tokenizer, examples)


def dataset_for_model(
    model: GenerationModel,
    card: Any,
    tokenizer: Any,
    examples: Sequence[GenerationExample],
    groups: Sequence[int] | None = None,
) -> GenerationDataset:
    """Examples laid out as a model reads them."""
    return GenerationDataset(
        prepared(model, examples),
        tokenizer,
        card.limits,
        model.place,
        turns=card.context_turns,
        first_strategy=model.decoder.first_strategy,
        groups=groups,
    )


def prepared(model: GenerationModel, examples: Sequence[GenerationExample]) -> list[GenerationExample]:
    """Examples with their prompts as a model wants them, where it has a wish (`misc.py`)."""
    prompts = model.prepared([example.prompt for example in examples])
    return [replace(example, prompt=prompt) for example, prompt in zip(examples, prompts, strict=True)]
