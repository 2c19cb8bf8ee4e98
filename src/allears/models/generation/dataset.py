"""Generation examples, tokenized once and cut into padded batches."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from allears.models.generation.examples import GenerationExample
from allears.nn.inputs import Inputs
from allears.runtime.generator import STRATEGIES
from allears.runtime.prompt_layout import PersonaPlace, prompt_rows
from allears.text.layout import Limits, Row
from allears.text.tokenizer import Tokenizer

# Batches are cut from stretches of shuffled examples: of so many that a batch needs little padding, of so few that no
# two epochs have the same ones. A stretch is sorted by responses, then each of its parts by contexts.
BATCHES_PER_STRETCH, BATCHES_PER_PART = 64, 8

Ids = npt.NDArray[np.int32]
Batch = TypeVar("Batch")


class GenerationBatch(NamedTuple):
    """Targets [B, T] are strategy (where there is one), words and end; `mask` is true on all of them."""

    context: Inputs
    persona: Inputs
    targets: Tensor
    mask: Tensor

    def to(self, device: torch.device | str) -> GenerationBatch:
        return GenerationBatch(
            self.context.to(device), self.persona.to(device), self.targets.to(device), self.mask.to(device)
        )


class ReplyDataset(ABC, Generic[Batch]):
    """Tokenized examples, cut into batches of about the same length. `targets` are what is learned of each; `groups`
    numbers the corpus of each example, for `batches`."""

    def __init__(
        self,
        examples: Sequence[GenerationExample],
        targets: Sequence[Ids],
        context_lengths: Sequence[int],
        groups: Sequence[int] | None,
    ):
        self.examples, self.targets = list(examples), list(targets)
        self.context_lengths = np.array(context_lengths, np.int64)
        self.target_lengths = np.array([len(target) for target in self.targets], np.int64)
        self.groups = np.zeros(len(self.examples), np.int64) if groups is None else np.asarray(groups)

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def fingerprint(self) -> str:
        """Changes when anything does that is learned from: a text, a persona, a strategy, a label."""
        digest = hashlib.sha256()
        for part in self._learned_from():
            digest.update(part)
        return digest.hexdigest()[:16]

    @abstractmethod
    def _learned_from(self) -> Iterator[bytes]:
        """All of it, for the fingerprint."""

    @abstractmethod
    def batch(self, rows: Sequence[int]) -> Batch:
        """Those rows, padded."""

    def batches(self, size: int, epoch: int, *, seed: int, weights: Sequence[float] = ()) -> list[list[int]]:
        """An epoch's batches, all of one size, longest context first inside, in random order; a rest is left out.

        `weights` say how often an epoch sees each corpus: 1 is once, 0.5 every second epoch. Each corpus is walked
        through from epoch to epoch and shuffled anew whenever all of it has been seen.
        """
        chosen = []
        for group in np.unique(self.groups).tolist():
            members = np.flatnonzero(self.groups == group)
            weight = weights[group] if weights else 1.0
            start, stop = (round(weight * number * len(members)) for number in (epoch, epoch + 1))
            chosen.append(members[_walk((seed, group), len(members), start, stop)])
        generator = np.random.default_rng((seed, epoch))
        order = generator.permutation(np.concatenate(chosen))
        order = order[: len(order) // size * size]
        batches: list[list[int]] = []
        for stretch in _pieces(order, size * BATCHES_PER_STRETCH):
            by_response = stretch[np.argsort(-self.target_lengths[stretch], kind="stable")]
            for part in _pieces(by_response, size * BATCHES_PER_PART):
                by_context = part[np.argsort(-self.context_lengths[part], kind="stable")]
                batches += by_context.reshape(-1, size).tolist()
        generator.shuffle(batches)
        return batches

    def parts(self, size: int) -> Iterator[list[int]]:
        """All rows, shortest first, so that a part needs hardly any padding."""
        order = np.argsort(self.context_lengths + self.target_lengths, kind="stable").tolist()
        for start in range(0, len(order), size):
            yield order[start : start + size]


class PairDataset(ReplyDataset[Batch]):
    """Examples of which context and persona are read apart, each as tokens and segments."""

    def __init__(
        self,
        examples: Sequence[GenerationExample],
        contexts: Iterable[Row],
        personas: Iterable[Row],
        targets: Sequence[Ids],
        *,
        pad: int,
        groups: Sequence[int] | None,
    ):
        # arrays: a list of Python numbers would be several times as large
        self.contexts = [(as_ids(ids), as_ids(segments)) for ids, segments in contexts]
        self.personas = [(as_ids(ids), as_ids(segments)) for ids, segments in personas]
        self.pad = pad
        super().__init__(examples, targets, [len(ids) for ids, _ in self.contexts], groups)

    def _padded(self, rows: Sequence[int]) -> tuple[Inputs, Inputs, Tensor, Tensor]:
        """Context, persona, targets, and where these are real."""
        context, persona = (
            self._inputs([column[row] for row in rows]) for column in (self.contexts, self.personas)
        )
        return context, persona, *padded([self.targets[row] for row in rows], self.pad)

    def _inputs(self, rows: Sequence[tuple[Ids, Ids]]) -> Inputs:
        ids, mask = padded([ids for ids, _ in rows], self.pad)
        segments, _ = padded([segments for _, segments in rows], 0)
        return Inputs(ids, mask.long(), segments)


class GenerationDataset(PairDataset[GenerationBatch]):
    """A strategy is the first of its targets. A response that is cut has no end: nothing shall learn to stop there."""

    def __init__(
        self,
        examples: Sequence[GenerationExample],
        tokenizer: Tokenizer,
        limits: Limits,
        place: PersonaPlace,
        *,
        turns: int,
        first_strategy: int,
        groups: Sequence[int] | None = None,
    ):
        prompts = [example.prompt for example in examples]
        rows = prompt_rows(prompts, tokenizer, limits, place, turns=turns)
        targets = []
        for prompt, words in zip(prompts, responses(examples, tokenizer, limits), strict=True):
            first = [] if prompt.strategy is None else [first_strategy + STRATEGIES.index(prompt.strategy)]
            targets.append(as_ids([*first, *words]))
        contexts, personas = [row.context for row in rows], [row.persona for row in rows]
        super().__init__(examples, contexts, personas, targets, pad=tokenizer.pad, groups=groups)

    def _learned_from(self) -> Iterator[bytes]:
        for example in self.examples:
            prompt = example.prompt
            yield from spelled(turn.text for turn in prompt.turns)
            yield from spelled((*prompt.persona, prompt.strategy or "", example.response))

    def batch(self, rows: Sequence[int]) -> GenerationBatch:
        return GenerationBatch(*self._padded(rows))


def responses(examples: Sequence[GenerationExample], tokenizer: Tokenizer, limits: Limits) -> list[list[int]]:
    """The responses' tokens and their ends, as far as the limit lets them."""
    pieces = tokenizer.encode_many([example.response for example in examples])
    return [[*own, tokenizer.end][: limits.response_tokens] for own in pieces]


def spelled(texts: Iterable[str]) -> Iterator[bytes]:
    """Texts for a fingerprint, each with an end."""
    return (text.encode("utf-8", "surrogatepass") + b"\0" for text in texts)


def _walk(seed: tuple[int, int], size: int, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Places `start` to `stop` of an endless row of shuffled rounds."""
    if start == stop:
        return np.zeros(0, np.int64)
    rounds = range(start // size, (stop - 1) // size + 1)
    row = np.concatenate([np.random.default_rng((*seed, number)).permutation(size) for number in rounds])
    return row[start - rounds[0] * size : stop - rounds[0] * size]


def _pieces(rows: npt.NDArray[np.int64], size: int) -> list[npt.NDArray[np.int64]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def as_ids(values: Sequence[int]) -> Ids:
    return np.asarray(values, np.int32)


def padded(rows: Sequence[Ids], pad: int) -> tuple[Tensor, Tensor]:
    """[B, longest] and where it is real; at least one place wide."""
    lengths = np.array([len(row) for row in rows], np.int64)
    mask = np.arange(max(1, int(lengths.max()))) < lengths[:, None]
    found = np.full(mask.shape, pad, np.int64)
    found[mask] = np.concatenate(rows)
    return torch.from_numpy(found), torch.from_numpy(mask)
