"""Generation examples, tokenized once and cut into padded batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from allears.models.generation.examples import GenerationExample
from allears.nn.inputs import Inputs
from allears.runtime.generator import STRATEGIES
from allears.runtime.prompt_layout import PersonaPlace, prompt_rows
from allears.text.layout import Limits
from allears.text.tokenizer import Tokenizer

# Batches are cut from stretches of shuffled examples: of so many that a batch needs little padding, of so few that no
# two epochs have the same ones. A stretch is sorted by responses, then each of its parts by contexts.
BATCHES_PER_STRETCH, BATCHES_PER_PART = 64, 8

Ids = npt.NDArray[np.int32]


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


class LengthBatches:
    """Cuts examples into batches of about the same length. Whoever derives from it says how long they are, and which
    corpus each is from."""

    context_lengths: npt.NDArray[np.int64]
    target_lengths: npt.NDArray[np.int64]
    groups: npt.NDArray[np.int64]

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


class GenerationDataset(LengthBatches):
    """`groups` numbers the corpus of each example, for `batches`. A response that is cut has no end: nothing shall
    learn to stop there."""

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
        self.examples, self.pad = list(examples), tokenizer.pad
        rows = prompt_rows(
            [example.prompt for example in self.examples], tokenizer, limits, place, turns=turns
        )
        # arrays: a list of Python numbers would be several times as large
        self.contexts = [(as_ids(row.context[0]), as_ids(row.context[1])) for row in rows]
        self.personas = [(as_ids(row.persona[0]), as_ids(row.persona[1])) for row in rows]
        answers = tokenizer.encode_many([example.response for example in self.examples])
        self.targets: list[Ids] = []
        for example, pieces in zip(self.examples, answers, strict=True):
            strategy = example.prompt.strategy
            first = [] if strategy is None else [first_strategy + STRATEGIES.index(strategy)]
            self.targets.append(as_ids([*first, *[*pieces, tokenizer.end][: limits.response_tokens]]))
        self.context_lengths = np.array([len(ids) for ids, _ in self.contexts], np.int64)
        self.target_lengths = np.array([len(target) for target in self.targets], np.int64)
        self.groups = np.zeros(len(self.examples), np.int64) if groups is None else np.asarray(groups)

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def fingerprint(self) -> str:
        """Changes when any text, persona or strategy of the data does."""
        digest = hashlib.sha256()
        for example in self.examples:
            prompt = example.prompt
            texts = (
                *(turn.text for turn in prompt.turns),
                *prompt.persona,
                prompt.strategy or "",
                example.response,
            )
            for text in texts:
                digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        return digest.hexdigest()[:16]

    def batch(self, rows: Sequence[int]) -> GenerationBatch:
        targets, mask = padded([self.targets[row] for row in rows], self.pad)
        return GenerationBatch(
            self._inputs([self.contexts[row] for row in rows]),
            self._inputs([self.personas[row] for row in rows]),
            targets,
            mask,
        )

    def _inputs(self, rows: Sequence[tuple[Ids, Ids]]) -> Inputs:
        ids, mask = padded([ids for ids, _ in rows], self.pad)
        segments, _ = padded([segments for _, segments in rows], 0)
        return Inputs(ids, mask.long(), segments)


def _walk(seed: tuple[int, int], size: int, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Places `start` to `stop` of an endless row of shuffled rounds."""
    if start == stop:
        return np.zeros(0, np.int64)
    rounds = range(start // size, (stop - 1) // size + 1)
    row = np.concatenate([np.random.default_rng((*seed, each)).permutation(size) for each in rounds])
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
