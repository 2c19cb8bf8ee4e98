"""What the training tasks of all generators share: corpora, batches, evaluation by likelihood and a written sample."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from allears.decoding import Settings
from allears.errors import AllearsError
from allears.evaluation.generation import evaluate_generation
from allears.models.generation.dataset import ReplyDataset
from allears.models.generation.examples import GenerationExample, read_examples
from allears.models.generation.filtering import reader_filter
from allears.text.layout import Limits
from allears.training.loop import Backward
from allears.training.recipe import Recipe, only_tables, sample
from allears.training.workers import Workers

EVALUATION_BATCH = 64
Dataset = TypeVar("Dataset", bound=ReplyDataset[Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationDataOptions:
    """`train` names corpora (or .jsonl files); a persona is read where their conversations carry one."""

    train: tuple[str, ...]
    valid: str
    weights: tuple[float, ...] = ()  # of each corpus: how often an epoch sees it; default: once each
    limits: tuple[int, ...] = ()  # of each corpus: a seeded sample of so many examples; 0: all
    root: str = ""  # default: ALLEARS_DATA
    train_split: str = "train"
    valid_split: str = "valid"
    every_turn: bool = False  # also learn to answer as the seeker: more pairs for pre-training
    persona_dropout: float = (
        0.1  # share of examples whose persona a step does not show: P(r | d) is learned too
    )
    reader: str = (
        ""  # a reader that sorts out hostile replies among those from the internet ("default": the bundle)
    )
    valid_limit: int = 0
    sample: int = 100  # valid examples that are written for at each evaluation; 0: none


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationLossOptions:
    label_smoothing: float = 0.0
    strategy: float = 1.0  # what the strategy's token counts, beside 1 for a word
    choice: float = 1.0  # of MISC: what its own choice among strategies counts, beside 1 for all words


@dataclass(slots=True)
class LikelihoodSums:
    """Over a valid split: log-probabilities of all tokens and of words alone, and how many labels were guessed."""

    total: float = 0.0
    tokens: float = 0.0
    of_words: float = 0.0
    words: float = 0.0
    right: float = 0.0
    asked: float = 0.0

    def report(self, accuracy: str) -> dict[str, float]:
        """`likelihood` of a token, `ppl` of a word, and in percent how many guesses were right, where any was made."""
        measures = {
            "likelihood": self.total / self.tokens,
            "ppl": float(np.exp(-self.of_words / self.words)),
        }
        return measures | ({accuracy: 100 * self.right / self.asked} if self.asked else {})


class ReplyTask(ABC, Generic[Dataset]):
    """A task of `loop.py`. Whoever derives from it builds a model, then lets `_lay_out` lay the examples out."""

    written: ClassVar[tuple[str, ...]] = ("bleu_2", "rouge_l", "distinct_2", "length")  # of the sample
    written_tokens: ClassVar[int | None] = None  # of a reply of the sample; None: as many as the model can
    by_polarity: ClassVar[bool] = True  # whether the sample is also measured by polarity

    model: nn.Module
    card: Any
    data: GenerationDataOptions
    valid: list[GenerationExample]
    data_fingerprint: str

    def __init__(self, recipe: Recipe, *more_tables: str):
        only_tables(recipe, {"data", "model", "limits", "loss", *more_tables})
        self.options, self.limits = recipe.training, recipe.table(Limits, "limits")

    def _read(self) -> tuple[list[GenerationExample], list[int]]:
        """The valid split is kept; what is learned from is given back, with the corpus of each example."""
        train = read_train(self.data, self.options.seed)
        self.valid = read_valid(self.data)
        return train

    def _lay_out(self, train: list[GenerationExample], groups: list[int]) -> None:
        self.train, self.held_out = self._dataset(train, groups), self._dataset(self.valid)
        self.data_fingerprint = self.train.fingerprint

    @abstractmethod
    def _dataset(self, examples: list[GenerationExample], groups: Sequence[int] | None = None) -> Dataset:
        """Examples as the model reads them; `groups` are the corpora of those that are learned from."""

    def batches(self, epoch: int) -> list[list[int]]:
        """Of about the same length, by the corpora's weights."""
        return self.train.batches(
            self.options.batch, epoch, seed=self.options.seed, weights=self.data.weights
        )

    @abstractmethod
    def step(self, batch: list[int], epoch: int, workers: Workers, backward: Backward) -> Tensor:
        """As `loop.Task.step`."""

    def evaluate(self, device: torch.device) -> dict[str, float]:
        """`likelihood`, the mean log-probability of a token (the higher the better, so a checkpoint is chosen by it);
        what else `_measure` says; and of a small sample, written greedily, BLEU, ROUGE-L and Distinct."""
        generator = self._generator(device)
        self.model.eval()
        measures = self._measure(generator, device)
        chosen = sample(self.valid, self.data.sample, self.options.seed) if self.data.sample else []
        if chosen:
            longest = self.card.limits.response_tokens
            settings = Settings(method="greedy", longest=min(self.written_tokens or longest, longest))
            report = evaluate_generation(generator, chosen, settings=settings, by_polarity=self.by_polarity)
            measures |= {name: report.measures[name] for name in self.written}
        return measures

    @abstractmethod
    def _generator(self, device: torch.device) -> Any:
        """The model as a `Generator`, for batches of `EVALUATION_BATCH`."""

    @abstractmethod
    def _measure(self, generator: Any, device: torch.device) -> dict[str, float]:
        """`likelihood`, `ppl` and more, by the tokens laid out once; a generator's `log_likelihood` would tokenize them
        at every evaluation."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """As `loop.Task.save`."""


def read_train(data: GenerationDataOptions, seed: int) -> tuple[list[GenerationExample], list[int]]:
    """All training examples, and the number of the corpus that each is from."""
    keep = None
    if data.reader:
        from allears.corpora.heads import head
        from allears.models.reader.loading import load_reading_model

        keep = reader_filter(load_reading_model(data.reader, head("goemotions")))
    limits = data.limits or (0,) * len(data.train)
    examples: list[GenerationExample] = []
    groups: list[int] = []
    for number, (name, limit) in enumerate(zip(data.train, limits, strict=True)):
        own = read_examples(name, data.train_split, data.root or None, every_turn=data.every_turn, keep=keep)
        own = sample(own, limit, seed)
        examples += own
        groups += [number] * len(own)
    return examples, groups


def read_valid(data: GenerationDataOptions) -> list[GenerationExample]:
    """What PAL is evaluated on: turns that answer the other person."""
    examples = read_examples(data.valid, data.valid_split, data.root or None)
    return sample([example for example in examples if example.answers], data.valid_limit, 0)


def check_options(data: GenerationDataOptions, label_smoothing: float) -> None:
    for name in ("weights", "limits"):
        listed = getattr(data, name)
        if listed and len(listed) != len(data.train):
            raise AllearsError(
                f"recipe: data.{name} needs one number for each of the {len(data.train)} corpora, got {len(listed)}"
            )
        if any(number < 0 for number in listed):
            raise AllearsError(f"recipe: data.{name} cannot be below 0, got {list(listed)}")
    for name, share in (
        ("data.persona_dropout", data.persona_dropout),
        ("loss.label_smoothing", label_smoothing),
    ):
        if not 0 <= share < 1:
            raise AllearsError(f"recipe: {name} must be at least 0 and below 1, got {share}")
