"""A generation model with its tokenizer, on any torch device: a `Generator`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from allears.decoding import (
    PAL_ALPHAS,
    PAL_SETTINGS,
    AlphaTable,
    Settings,
    TwoBranches,
    interleaved,
    take_rows,
)
from allears.models.generation.dataset import GenerationDataset
from allears.models.generation.examples import GenerationExample
from allears.models.generation.writer import EncoderMemory, GenerationModel
from allears.nn.inputs import Inputs
from allears.runtime.generator import STRATEGIES, Generated, Likelihood, Prompt, Seed
from allears.runtime.replies import (
    Vocabulary,
    by_prescription,
    check_alphas,
    ranked_strategies,
    write_replies,
)
from allears.runtime.seeds import prompt_seeds

BATCH = 32


class TorchGenerator:
    def __init__(self, model: Any, card: Any, tokenizer: Any, *, device: str = "cpu", batch: int = BATCH):
        self.model: GenerationModel = model.to(device)
        self.module: torch.nn.Module = model
        self.card, self.tokenizer, self.device, self.batch = card, tokenizer, device, batch
        self.tokens = self.model.decoder.strategy_tokens
        self.vocabulary = Vocabulary(tokenizer, self.model.decoder.first_strategy)

    @property
    def has_branches(self) -> bool:
        """Whether equation 6 has something to work with: a reading with persona and one without."""
        return hasattr(self.model, "branches")

    @torch.inference_mode()
    def generate(
        self,
        prompts: Sequence[Prompt],
        settings: Settings = PAL_SETTINGS,
        seed: Seed = 0,
        *,
        count: int = 1,
        alphas: AlphaTable | None = None,
    ) -> list[list[Generated]]:
        check_alphas(alphas, self.card.name, self.has_branches)
        seeds = prompt_seeds(seed, len(prompts))
        found: list[list[Generated]] = [[] for _ in prompts]
        for chosen in by_prescription(prompts):
            for part, data in self._parts([prompts[place] for place in chosen]):
                rows = [chosen[place] for place in part]
                for row, texts in zip(
                    rows,
                    self._write(
                        [prompts[row] for row in rows],
                        data,
                        part,
                        settings,
                        [seeds[row] for row in rows],
                        count,
                        alphas or PAL_ALPHAS,
                    ),
                    strict=True,
                ):
                    found[row] = texts
        return found

    def _write(
        self,
        prompts: Sequence[Prompt],
        data: GenerationDataset,
        rows: Sequence[int],
        settings: Settings,
        seeds: Sequence[int],
        count: int,
        alphas: AlphaTable,
    ) -> list[list[Generated]]:
        model = self.model
        context, persona, _, _ = data.batch(rows).to(self.device)
        with self.autocast():
            table = model.decoder.table(model.encoder)
            step: Any = partial(model.decoder.step, table=table)
            reorder: Any = take_rows
            start = torch.full((len(prompts),), model.decoder.start, device=self.device)
            if self.has_branches and any(alphas.by_strategy.values()) and bool(persona.mask.any()):
                both = self.branches(context, persona)
                parts = [model.decoder.begin(memory, table) for memory in both]
                branches = TwoBranches(step, alphas.by_token(self.tokens), reorder=reorder)
                step, reorder = branches.step, branches.reorder
                state: Any = branches.begin(interleaved(*parts), start)
            else:
                state = tuple(model.decoder.begin(model.read(context, persona), table))
            return write_replies(
                prompts,
                step,
                state,
                start,
                vocabulary=self.vocabulary,
                settings=settings,
                longest=self.card.limits.response_tokens,
                strategy_first=self.card.strategy_first,
                seeds=seeds,
                count=count,
                reorder=reorder,
            )

    def branches(self, context: Inputs, persona: Inputs) -> tuple[EncoderMemory, EncoderMemory]:
        found: tuple[EncoderMemory, EncoderMemory] = self.model.branches(context, persona)  # type: ignore[attr-defined]
        return found

    @torch.inference_mode()
    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        found: list[Likelihood] = [Likelihood(0.0, 0)] * len(prompts)
        for part, data in self._parts(prompts, responses):
            context, persona, targets, mask = data.batch(part).to(self.device)
            with self.autocast():
                table = self.model.decoder.table(self.model.encoder)
                likely, _ = self.model.decoder.likelihood(targets, self.model.read(context, persona), table)
            given = torch.tensor([prompts[row].strategy is not None for row in part], device=self.device)
            counted = mask.clone()
            counted[:, 0] &= ~given  # the strategy is no part of the response
            sums = (likely.double() * counted).sum(1).tolist()
            for row, total, number in zip(part, sums, counted.sum(1).tolist(), strict=True):
                cut = bool(data.targets[row][-1] != self.tokenizer.end)
                found[row] = Likelihood(total, int(number), cut)
        return found

    @torch.inference_mode()
    def strategies(self, prompts: Sequence[Prompt]) -> list[tuple[tuple[str, float], ...]]:
        found: list[tuple[tuple[str, float], ...]] = [()] * len(prompts)
        first = self.model.decoder.first_strategy
        for part, data in self._parts([replace(prompt, strategy=None) for prompt in prompts]):
            context, persona, _, _ = data.batch(part).to(self.device)
            with self.autocast():
                table = self.model.decoder.table(self.model.encoder)
                state = tuple(self.model.decoder.begin(self.model.read(context, persona), table))
                start = torch.full((len(part),), self.model.decoder.start, device=self.device)
                likely, _ = self.model.decoder.step(start, state, table)
            shares: Tensor = likely[:, first : first + len(STRATEGIES)].float().softmax(-1)
            for row, each in zip(part, shares.tolist(), strict=True):
                found[row] = ranked_strategies(each)
        return found

    def _parts(
        self, prompts: Sequence[Prompt], responses: Sequence[str] | None = None
    ) -> Iterator[tuple[list[int], GenerationDataset]]:
        """Everything tokenized once, then in batches of about the same length."""
        if not prompts:
            return
        self.module.eval()
        texts = [""] * len(prompts) if responses is None else responses
        examples = [GenerationExample(prompt, text) for prompt, text in zip(prompts, texts, strict=True)]
        data = GenerationDataset(
            prepared(self.module, examples),
            self.tokenizer,
            self.card.limits,
            self.model.place,
            turns=self.card.context_turns,
            first_strategy=self.model.decoder.first_strategy,
        )
        for part in data.parts(self.batch):
            yield part, data

    def autocast(self) -> Any:
        return torch.autocast("cuda", torch.bfloat16, enabled=str(self.device).startswith("cuda"))


def prepared(model: Any, examples: Sequence[GenerationExample]) -> list[GenerationExample]:
    """Examples with their prompts as a model wants them, where it has a wish (`misc.py`)."""
    if not hasattr(model, "prepared"):
        return list(examples)
    prompts = model.prepared([example.prompt for example in examples])
    return [replace(example, prompt=prompt) for example, prompt in zip(examples, prompts, strict=True)]
