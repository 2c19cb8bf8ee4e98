"""An empathetic generator with its vocabulary, on any torch device: a `Generator` that also names emotions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from allears.decoding import DECODINGS, AlphaTable, Settings, Step, never, write
from allears.errors import AllearsError
from allears.models.generation.empathetic import EmpatheticBatch, EmpatheticModel, before, likelihoods
from allears.models.generation.empathetic_data import EMOTION_SETS, EmpatheticDataset, Features
from allears.models.generation.examples import GenerationExample
from allears.models.generation.prepend import Prepend
from allears.runtime.consensus import draws_for, most_agreed
from allears.runtime.generator import Generated, Likelihood, Prompt, Seed
from allears.runtime.seeds import prompt_seeds
from allears.runtime.spelling import written_text
from allears.text.paper_words import plain_text
from allears.text.tokenizer import WordPiece

BATCH = 64
# The papers' decoding: beam 5, at most 30 words.
BEAM_SETTINGS = DECODINGS["beam-5"]


class EmpatheticGenerator:
    def __init__(
        self,
        model: Any,
        card: Any,
        tokenizer: Any,
        *,
        prepend: Prepend | None = None,
        device: str = "cpu",
        batch: int = BATCH,
        frozen: Any = None,
    ):
        self.model: EmpatheticModel = model.to(device)
        self.module: torch.nn.Module = model
        self.card, self.tokenizer, self.device, self.batch = card, tokenizer, device, batch
        self.layout = card.layout(prepend)
        self.emotion_labels = EMOTION_SETS[card.emotions]
        self._frozen = frozen

    @torch.inference_mode()
    def generate(
        self,
        prompts: Sequence[Prompt],
        settings: Settings = BEAM_SETTINGS,
        seed: Seed = 0,
        *,
        count: int = 1,
        alphas: AlphaTable | None = None,
    ) -> list[list[Generated]]:
        """As the protocol says. A stochastic model draws its own chances from the same seeds; without any in the
        search (greedy, beam) the seed still decides what such a model says."""
        if alphas is not None and any(alphas.by_strategy.values()):
            raise AllearsError(
                f"a {self.card.name} generator has no branch without persona, so alpha can only be 0; use pal"
            )
        seeds = prompt_seeds(seed, len(prompts))
        limit = min(settings.longest, self.card.limits.response_tokens)
        settings = replace(settings, longest=limit, shortest=min(settings.shortest, limit))
        found: list[list[Generated]] = [[] for _ in prompts]
        for rows, data in self._parts(prompts, noise=self._noise(seeds)):
            texts = self._write(
                data.batch(rows).to(self.device),
                settings,
                [seeds[row] for row in rows],
                draws_for(settings, count),
            )
            for row, each in zip(rows, texts, strict=True):
                drawn = [
                    Generated(
                        self._text(written.tokens, prompts[row]),
                        "",
                        written.score,
                        cut=len(written.tokens) == limit,
                    )
                    for written in each
                ]
                found[row] = most_agreed(drawn, count)
        return found

    def _write(self, batch: EmpatheticBatch, settings: Settings, seeds: Sequence[int], count: int) -> Any:
        with self.autocast():
            state = self.model.begin(self.model.read(batch))
            start = torch.full((len(seeds),), self.tokenizer.start, device=self.device)
            return write(
                settings,
                self.step,
                state,
                start,
                end=self.tokenizer.end,
                count=count,
                seed=list(seeds),
                processors=[never(self._unwritable())],
            )

    @property
    def step(self) -> Step:
        """What every search calls: one more token [B], logits [B, V]."""

        def step(tokens: Any, state: Any) -> tuple[Any, Any]:
            logits, state = self.model.write(tokens[:, None], state)
            return logits[:, 0].float(), state

        return step

    @torch.inference_mode()
    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        found: list[Likelihood] = [Likelihood(0.0, 0)] * len(prompts)
        for rows, data in self._parts(prompts, responses):
            batch = data.batch(rows).to(self.device)
            likely = self.measured(batch)
            sums = (likely.double() * batch.mask).sum(1).tolist()
            for row, total, number in zip(rows, sums, batch.mask.sum(1).tolist(), strict=True):
                cut = bool(data.targets[row][-1] != self.tokenizer.end)
                found[row] = Likelihood(total, int(number), cut)
        return found

    def measured(self, batch: EmpatheticBatch) -> torch.Tensor:
        """log P [B, T] of a batch's targets."""
        return self.understood(batch)[0]

    def understood(self, batch: EmpatheticBatch) -> tuple[torch.Tensor, torch.Tensor | None]:
        """log P [B, T] of a batch's targets, and the emotions' logits [B, n], from one reading."""
        with self.autocast():
            read = self.model.read(batch)
            logits, _ = self.model.write(before(batch), self.model.begin(read))
            return likelihoods(logits, batch.targets), read.emotions

    @property
    def names_emotions(self) -> bool:
        """Whether the model has learned to; the plain Transformer has not."""
        return bool(getattr(self.model, "names_emotions", True))

    @torch.inference_mode()
    def emotions(self, prompts: Sequence[Prompt]) -> list[tuple[tuple[str, float], ...]]:
        found: list[tuple[tuple[str, float], ...]] = [()] * len(prompts)
        for rows, data in self._parts(prompts):
            with self.autocast():
                logits = self.model.read(data.batch(rows).to(self.device)).emotions
            if logits is None:
                continue
            for row, each in zip(rows, logits.float().softmax(-1).tolist(), strict=True):
                ranked = sorted(zip(self.emotion_labels, each, strict=True), key=lambda pair: -pair[1])
                found[row] = tuple(ranked)
        return found

    def _parts(
        self,
        prompts: Sequence[Prompt],
        responses: Sequence[str] | None = None,
        *,
        noise: Features | None = None,
    ) -> Iterator[tuple[list[int], EmpatheticDataset]]:
        """Everything tokenized once, then in batches of about the same length."""
        if not prompts:
            return
        self.module.eval()
        texts = [""] * len(prompts) if responses is None else responses
        if noise is None:  # the prior's own middle
            noise = np.zeros((len(prompts), self.model.noise), np.float32)
        data = EmpatheticDataset(
            [GenerationExample(prompt, text) for prompt, text in zip(prompts, texts, strict=True)],
            self.tokenizer,
            self.layout,
            beside=self._beside(prompts),
            noise=noise,
        )
        for rows in data.parts(self.batch):
            yield rows, data

    def _noise(self, seeds: Sequence[int]) -> Features | None:
        if not self.model.noise:
            return None
        drawn = [np.random.default_rng(seed).standard_normal(self.model.noise) for seed in seeds]
        return np.asarray(drawn, np.float32)

    def _beside(self, prompts: Sequence[Prompt]) -> Features | None:
        if not self.card.beside:
            return None
        if self._frozen is None:
            from allears.models.generation.beside import FrozenReader

            self._frozen = FrozenReader(self.card.beside)
        features: Features = self._frozen.features(prompts)
        return features

    def _text(self, tokens: Sequence[int], prompt: Prompt) -> str:
        if isinstance(self.tokenizer, WordPiece):
            source = " ".join([*(turn.text for turn in prompt.turns), *prompt.own_persona])
            return written_text(self.tokenizer, tokens, source)
        return plain_text([self.tokenizer.words_[token] for token in tokens])

    def _unwritable(self) -> list[int]:
        """Tokens that are marks, not words."""
        if isinstance(self.tokenizer, WordPiece):
            unknown = self.tokenizer.backend.token_to_id("[UNK]")
        else:
            unknown = self.tokenizer.unknown
        marks = {self.tokenizer.pad, self.tokenizer.start, unknown} - {None}
        return sorted(int(mark) for mark in marks)

    def autocast(self) -> Any:
        return torch.autocast("cuda", torch.bfloat16, enabled=str(self.device).startswith("cuda"))
