"""What the rest of the house knows of a generator: prompts in, replies out. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from allears.conversation import Turn
from allears.decoding import PAL_SETTINGS, AlphaTable, Settings
from allears.decoding.sampling import Seed
from allears.errors import AllearsError
from allears.labels import STRATEGIES

__all__ = [
    "STRATEGIES",
    "ChoosesStrategy",
    "Generated",
    "Generator",
    "HasOwnSettings",
    "Likelihood",
    "NamesEmotion",
    "Prompt",
    "Seed",
    "Streams",
    "checked_strategy",
    "settings_of",
]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a reply is written for.

    `turns`: everything said so far, the latest last; the one who is to answer is the supporter.
    `persona`: sentences about the person who is answered, in the first person.
    `strategy`: prescribed where given (one of ESConv's eight); otherwise the generator chooses.
    `own_persona`: sentences about the one who answers, for generators that speak as somebody (ModMoEL).
    `days_since`: how many days ago the two last talked, where that is known.
    """

    turns: tuple[Turn, ...]
    persona: tuple[str, ...] = ()
    strategy: str | None = None
    own_persona: tuple[str, ...] = ()
    days_since: int | None = None

    def __post_init__(self) -> None:
        if self.strategy is not None:
            checked_strategy(self.strategy)


@dataclass(frozen=True, slots=True)
class Generated:
    """A reply, the strategy it was written with ("" where there is none), and its log-probability: of all its tokens
    and its end, and of the strategy where the generator chose it. `cut`: it would have gone on, but may not."""

    text: str
    strategy: str
    log_probability: float
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Likelihood:
    """How likely a response was: the log-probability (natural, summed) of its tokens and its end, and how many those
    were. `cut`: the response is longer than the model can write, and only its beginning was measured."""

    log_probability: float
    tokens: int
    cut: bool = False


class Generator(Protocol):
    def generate(
        self,
        prompts: Sequence[Prompt],
        settings: Settings = ...,
        seed: Seed = 0,
        *,
        count: int = 1,
        alphas: AlphaTable | None = None,
    ) -> list[list[Generated]]:
        """`count` replies for each prompt.

        The same prompt, seed and place give the same replies, whoever else is asked for at the same time; with one
        seed for each prompt, also wherever it stands. `alphas`: how much each strategy leans on the persona (PAL's
        equation 6); None is the generator's own table, and generators without a second branch have none.
        """
        ...

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        """Of each response, for `ppl` and `ppl_word`. A prompt's strategy is given, so it is not counted; alphas are
        a matter of decoding and have no part in it."""
        ...


@runtime_checkable
class HasOwnSettings(Protocol):
    """A generator that was tuned for a way of decoding, on a valid split; the others are measured with PAL's."""

    own_settings: Settings


def settings_of(generator: Generator) -> Settings:
    return generator.own_settings if isinstance(generator, HasOwnSettings) else PAL_SETTINGS


@runtime_checkable
class Streams(Protocol):
    """A generator that hands out a reply while it is being written."""

    def stream(
        self,
        prompt: Prompt,
        settings: Settings | None = None,
        seed: int = 0,
        *,
        cancelled: Callable[[], bool] | None = None,
    ) -> Iterator[str]:
        """The raw text of one reply, piece by piece; its strategy in brackets may stand before it."""
        ...

    def split(self, written: str) -> tuple[str, str]:
        """A whole raw text as (strategy, reply); the strategy is "" where none was named."""
        ...


@runtime_checkable
class ChoosesStrategy(Protocol):
    """A generator that first says what it is going to do."""

    def strategies(self, prompts: Sequence[Prompt]) -> list[tuple[tuple[str, float], ...]]:
        """For each prompt all strategies with their probabilities, likeliest first, whatever the prompt prescribes."""
        ...


@runtime_checkable
class NamesEmotion(Protocol):
    """A generator that also says what the person it answers feels. `emotion_labels`: 32 emotions, or 16 groups."""

    emotion_labels: tuple[str, ...]

    def emotions(self, prompts: Sequence[Prompt]) -> list[tuple[tuple[str, float], ...]]:
        """For each prompt all labels with their probabilities, likeliest first."""
        ...


def checked_strategy(name: str) -> str:
    if name not in STRATEGIES:
        raise AllearsError(f"there is no strategy {name!r}; there are: {', '.join(STRATEGIES)}")
    return name
