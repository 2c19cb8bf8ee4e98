"""An empathetic generator with its vocabulary, on any torch device: a `Generator` that also names emotions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from allears.decoding import DECODINGS, Step, Written, never, write
from allears.models.generation.empathetic import EmpatheticBatch, EmpatheticModel, before, likelihoods
from allears.models.generation.empathetic_data import EMOTION_SETS, EmpatheticDataset, Features
from allears.models.generation.examples import GenerationExample
from allears.models.generation.prepend import Prepend
from allears.models.generation.torch_replies import TorchReplies
from allears.runtime.consensus import draws_for, most_agreed
from allears.runtime.generating import BatchedGenerator, WritingRequest
from allears.runtime.generator import Generated, Prompt
from allears.runtime.replies import marks_of
from allears.runtime.spelling import written_text
from allears.text.paper_words import plain_text
from allears.text.tokenizer import WordPiece

BATCH = 64
# The papers' decoding: beam 5, at most 30 words.
BEAM_SETTINGS = DECODINGS["beam-5"]


class EmpatheticGenerator(
    TorchReplies[EmpatheticModel, EmpatheticDataset], BatchedGenerator[EmpatheticBatch]
):
    """A stochastic model draws its own chances from the prompts' seeds; without any in the search (greedy, beam) the
    seed still decides what such a model says."""

    default_settings = BEAM_SETTINGS

    def __init__(
        self,
        model: EmpatheticModel,
        card: Any,
        tokenizer: Any,
        *,
        prepend: Prepend | None = None,
        device: str = "cpu",
        batch: int = BATCH,
        frozen: Any = None,
    ):
        super().__init__(model, card, tokenizer, device=device, batch=batch)
        self.layout = card.layout(prepend)
        self.emotion_labels = EMOTION_SETS[card.emotions]
        self._frozen = frozen

    def _batches(self, request: WritingRequest) -> Iterator[tuple[list[int], EmpatheticBatch]]:
        parts = self._parts(request.prompts, seeds=request.seeds)
        return ((rows, data.batch(rows).to(self.device)) for rows, data in parts)

    @torch.inference_mode()
    def _write_batch(self, request: WritingRequest, data: EmpatheticBatch) -> list[list[Generated]]:
        limit = min(request.settings.longest, self.card.limits.response_tokens)
        shortest = min(request.settings.shortest, limit)
        with self.autocast():
            drawn = write(
                replace(request.settings, longest=limit, shortest=shortest),
                self.step,
                self.model.begin(self.model.read(data)),
                torch.full((len(request.seeds),), self.tokenizer.start, device=self.device),
                end=self.tokenizer.end,
                count=draws_for(request.settings, request.count),
                seed=list(request.seeds),
                processors=[never(marks_of(self.tokenizer))],
            )
        return [
            most_agreed([self._generated(prompt, written, limit) for written in own], request.count)
            for prompt, own in zip(request.prompts, drawn, strict=True)
        ]

    def _generated(self, prompt: Prompt, written: Written, limit: int) -> Generated:
        text = self._text(written.tokens, prompt)
        return Generated(text, "", written.score, cut=len(written.tokens) == limit)

    @property
    def step(self) -> Step:
        """What every search calls: one more token [B], logits [B, V]."""

        def step(tokens: Any, state: Any) -> tuple[Any, Any]:
            logits, state = self.model.write(tokens[:, None], state)
            return logits[:, 0].float(), state

        return step

    def measured(self, batch: EmpatheticBatch) -> torch.Tensor:
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
        return self.model.names_emotions

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

    def _dataset(
        self, examples: Sequence[GenerationExample], seeds: Sequence[int] | None
    ) -> EmpatheticDataset:
        noise = np.zeros((len(examples), self.model.noise), np.float32)  # the prior's own middle
        if seeds is not None and self.model.noise:
            drawn = [np.random.default_rng(seed).standard_normal(self.model.noise) for seed in seeds]
            noise = np.asarray(drawn, np.float32)
        beside = self._beside([example.prompt for example in examples])
        return EmpatheticDataset(examples, self.tokenizer, self.layout, beside=beside, noise=noise)

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
