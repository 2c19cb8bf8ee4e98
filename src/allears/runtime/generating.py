"""One `generate` for all generators: seeds, batches and prescribed strategies are handled here. No torch here.

A generator says how a batch is made ready and how it is written; which prompts share a batch changes no reply.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

from allears.decoding import (
    PAL_ALPHAS,
    PAL_SETTINGS,
    AlphaTable,
    Array,
    Reorder,
    Settings,
    State,
    Step,
    TwoBranches,
    take_rows,
)
from allears.errors import AllearsError
from allears.runtime.generator import Generated, Prompt, Seed
from allears.runtime.replies import Vocabulary, ranked_strategies, write_replies
from allears.runtime.seeds import prompt_seeds

Data = TypeVar("Data")
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class WritingRequest:
    """What `generate` was asked, with a seed for each prompt."""

    prompts: Sequence[Prompt]
    seeds: Sequence[int]
    settings: Settings
    count: int
    alphas: AlphaTable | None

    @property
    def table(self) -> AlphaTable:
        return self.alphas or PAL_ALPHAS

    @property
    def leans(self) -> bool:
        """Whether any strategy leans on the persona."""
        return any(self.table.by_strategy.values())

    def of(self, rows: Sequence[int]) -> WritingRequest:
        """The same for some of the prompts."""
        return replace(
            self, prompts=[self.prompts[row] for row in rows], seeds=[self.seeds[row] for row in rows]
        )


class SeededGenerator(ABC):
    """A `Generator` whose every prompt has a seed of its own."""

    default_settings: ClassVar[Settings] = PAL_SETTINGS

    @property
    def has_branches(self) -> bool:
        """Whether equation 6 has something to work with: a reading with persona and one without."""
        return False

    def generate(
        self,
        prompts: Sequence[Prompt],
        settings: Settings | None = None,
        seed: Seed = 0,
        *,
        count: int = 1,
        alphas: AlphaTable | None = None,
    ) -> list[list[Generated]]:
        """As `Generator.generate` says; without `settings`, by `default_settings`."""
        seeds = prompt_seeds(seed, len(prompts))
        return self._write(WritingRequest(prompts, seeds, settings or self.default_settings, count, alphas))

    @abstractmethod
    def _write(self, request: WritingRequest) -> list[list[Generated]]:
        """`count` replies for each prompt."""

    def _check_alphas(self, alphas: AlphaTable | None, name: str) -> None:
        if not self.has_branches and alphas is not None and any(alphas.by_strategy.values()):
            raise AllearsError(
                f"a {name} generator has no branch without persona, so alpha can only be 0; use pal"
            )


class BatchedGenerator(SeededGenerator, Generic[Data]):
    """A generator that writes for several prompts at once. `Data` is a batch that was made ready."""

    card: Any  # `limits`, and how the model reads

    @property
    def name(self) -> str:
        return str(self.card.name)

    def _write(self, request: WritingRequest) -> list[list[Generated]]:
        self._check_alphas(request.alphas, self.name)
        return in_order(
            len(request.prompts),
            ((rows, self._write_batch(request.of(rows), data)) for rows, data in self._batches(request)),
        )

    @abstractmethod
    def _batches(self, request: WritingRequest) -> Iterator[tuple[list[int], Data]]:
        """The rows of prompts that are written together, and what was made ready of them."""

    @abstractmethod
    def _write_batch(self, request: WritingRequest, data: Data) -> list[list[Generated]]:
        """`count` replies for each prompt of a batch."""


class StrategyGenerator(BatchedGenerator[Data]):
    """A generator that writes a reply's strategy as its first token, or is told it."""

    vocabulary: Vocabulary

    def _batches(self, request: WritingRequest) -> Iterator[tuple[list[int], Data]]:
        """Prompts that prescribe a strategy begin after it, so they are written by themselves."""
        for prescribed in (False, True):
            own = [
                row
                for row, prompt in enumerate(request.prompts)
                if (prompt.strategy is not None) is prescribed
            ]
            if own:
                for part, data in self._cut([request.prompts[row] for row in own]):
                    yield [own[place] for place in part], data

    @abstractmethod
    def _cut(self, prompts: Sequence[Prompt]) -> Iterator[tuple[list[int], Data]]:
        """Prompts in batches of about the same length."""

    @abstractmethod
    def _strategy_shares(self, data: Data) -> list[list[float]]:
        """Of each prompt of a batch: how likely each strategy is to be its first token."""

    def strategies(self, prompts: Sequence[Prompt]) -> list[tuple[tuple[str, float], ...]]:
        """For each prompt all strategies with their probabilities, likeliest first, whatever the prompt prescribes."""
        free = [replace(prompt, strategy=None) for prompt in prompts]
        return in_order(
            len(prompts),
            (
                (rows, [ranked_strategies(shares) for shares in self._strategy_shares(data)])
                for rows, data in self._cut(free)
            ),
        )

    def _replies(
        self,
        request: WritingRequest,
        step: Step,
        state: State,
        start: Array,
        reorder: Reorder = take_rows,
        *,
        two_branches: bool = False,
    ) -> list[list[Generated]]:
        """By `write_replies`, as the card says. `two_branches`: `state` has each prompt with persona and without."""
        if two_branches:
            alphas = request.table.by_token(self.vocabulary.strategies)
            branches = TwoBranches(step, alphas, reorder=reorder)
            state = branches.begin(state, start)
            step, reorder = branches.step, branches.reorder
        return write_replies(
            request.prompts,
            step,
            state,
            start,
            vocabulary=self.vocabulary,
            settings=request.settings,
            longest=self.card.limits.response_tokens,
            strategy_first=self.card.strategy_first,
            seeds=request.seeds,
            count=request.count,
            reorder=reorder,
        )


def in_order(count: int, batches: Iterable[tuple[Sequence[int], Sequence[Item]]]) -> list[Item]:
    """The items of all batches, each at its row."""
    items: dict[int, Item] = {}
    for rows, part in batches:
        items.update(zip(rows, part, strict=True))
    return [items[row] for row in range(count)]
