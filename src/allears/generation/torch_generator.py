"""A generation model with its tokenizer, on any torch device: a `Generator`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from allears.errors import AllearsError
from allears.generation.contract import STRATEGIES, Generated, Likelihood, Prompt, Seed
from allears.generation.dataset import GenerationDataset
from allears.generation.decoding import (
    PAL_ALPHAS,
    PAL_SETTINGS,
    AlphaTable,
    Processor,
    Settings,
    TwoBranches,
    Written,
    begin_with,
    interleaved,
    never,
    take_rows,
    write,
)
from allears.generation.examples import GenerationExample
from allears.generation.spelling import written_text
from allears.generation.writer import GenerationModel, Memory
from allears.nn.inputs import Inputs
from allears.text.tokenizer import WordPiece

BATCH = 32


class TorchGenerator:
    def __init__(self, model: Any, card: Any, tokenizer: Any, *, device: str = "cpu", batch: int = BATCH):
        self.model: GenerationModel = model.to(device)
        self.module: torch.nn.Module = model
        self.card, self.tokenizer, self.device, self.batch = card, tokenizer, device, batch
        self.tokens = self.model.decoder.strategy_tokens

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
        if not self.has_branches and alphas is not None and any(alphas.by_strategy.values()):
            raise AllearsError(
                f"a {self.card.name} generator has no branch without persona, so alpha can only be 0; use pal"
            )
        seeds = prompt_seeds(seed, len(prompts))
        found: list[list[Generated]] = [[] for _ in prompts]
        # those with a prescribed strategy begin after it, so they are written by themselves
        for prescribed in (False, True):
            chosen = [
                place for place, each in enumerate(prompts) if (each.strategy is not None) is prescribed
            ]
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
        model, tokens = self.model, list(self.tokens.values())
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
            processors: list[Processor] = [never([self.tokenizer.pad, *self._unwritable()])]
            limit = min(settings.longest, self.card.limits.response_tokens)
            own = 0
            if prompts[0].strategy is not None:
                _, state = step(start, state)
                start = torch.tensor(
                    [self.tokens[str(each.strategy)] for each in prompts], device=self.device
                )
                processors.append(never(tokens))
            elif self.card.strategy_first:
                own = 1  # the strategy is one more token to write
                processors.append(begin_with(tokens))
            settings = replace(settings, longest=limit + own, shortest=min(settings.shortest, limit) + own)
            found = write(
                settings,
                step,
                state,
                start,
                end=self.tokenizer.end,
                count=count,
                seed=list(seeds),
                processors=processors,
                reorder=reorder,
            )
        return [
            [self._generated(prompt, written) for written in texts]
            for prompt, texts in zip(prompts, found, strict=True)
        ]

    def branches(self, context: Inputs, persona: Inputs) -> tuple[Memory, Memory]:
        found: tuple[Memory, Memory] = self.model.branches(context, persona)  # type: ignore[attr-defined]
        return found

    def _generated(self, prompt: Prompt, written: Written) -> Generated:
        first = self.model.decoder.first_strategy
        strategy = prompt.strategy or ""
        words = [token for token in written.tokens if not first <= token < first + len(STRATEGIES)]
        if not strategy and written.tokens and len(words) < len(written.tokens):
            place = next(token for token in written.tokens if first <= token < first + len(STRATEGIES))
            strategy = STRATEGIES[place - first]
        return Generated(self._text(words, prompt), strategy, written.score)

    def _text(self, words: Sequence[int], prompt: Prompt) -> str:
        if isinstance(self.tokenizer, WordPiece):
            source = " ".join([*(turn.text for turn in prompt.turns), *prompt.persona])
            return written_text(self.tokenizer, words, source)
        return str(self.tokenizer.text(words))

    def _unwritable(self) -> list[int]:
        """Tokens that are marks, not words."""
        unknown = getattr(self.tokenizer.backend, "unk_token_id", None)  # a pretrained model's tokenizer
        if isinstance(self.tokenizer, WordPiece):
            unknown = self.tokenizer.backend.token_to_id("[UNK]")
        marks = {self.tokenizer.start, unknown} - {None, self.tokenizer.end, self.tokenizer.pad}
        return [int(mark) for mark in marks]

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
                ranked = sorted(zip(STRATEGIES, each, strict=True), key=lambda pair: -pair[1])
                found[row] = tuple(ranked)
        return found

    def _parts(
        self, prompts: Sequence[Prompt], responses: Sequence[str] | None = None
    ) -> Iterator[tuple[list[int], GenerationDataset]]:
        """Everything tokenized once, then in batches of about the same length."""
        if not prompts:
            return
        self.module.eval()
        texts = [""] * len(prompts) if responses is None else responses
        data = GenerationDataset(
            [GenerationExample(prompt, text) for prompt, text in zip(prompts, texts, strict=True)],
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


def prompt_seeds(seed: Seed, count: int) -> list[int]:
    """A seed for each prompt. Of one number, one by place: prompts that drew the same chances would choose alike."""
    if not isinstance(seed, int):
        if len(seed) != count:
            raise ValueError(f"{count} prompts need {count} seeds, or one for all of them; got {len(seed)}")
        return list(seed)
    return [int(np.random.SeedSequence((seed, place)).generate_state(1)[0]) for place in range(count)]
