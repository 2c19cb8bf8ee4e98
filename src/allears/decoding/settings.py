"""How a generator writes, as plain values: what a recipe or a request says, turned into one of the searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from allears.decoding import processors as limits
from allears.decoding import warps
from allears.decoding.arrays import take_rows
from allears.decoding.beam import diverse_beam_search
from allears.decoding.contract import Array, Constraint, Processor, Reorder, State, Step, Warp, Written
from allears.decoding.greedy_search import greedy
from allears.decoding.sampling import Seed, sample
from allears.errors import AllearsError

Method = Literal["greedy", "beam", "diverse", "sample"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Plain values; what a method does not use it ignores."""

    method: Method = "sample"
    longest: int = 40  # tokens, the end not counted
    shortest: int = 1
    repetition_penalty: float = 1.0
    no_repeated_ngrams: int | None = None
    # sample
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    consensus: int = 0  # draws, of which the one that the others agree with is kept (`consensus.py`)
    # beam and diverse
    width: int = 4
    length_penalty: float = 1.0
    diversity: float = 0.5

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise AllearsError(
                f"there is no way of decoding called {self.method!r}; there are: {', '.join(get_args(Method))}"
            )
        if not 0 <= self.shortest <= self.longest or self.longest < 1:
            raise AllearsError(
                f"a text of at least {self.shortest} and at most {self.longest} tokens cannot be written"
            )
        if self.consensus < 0 or (self.consensus and self.method != "sample"):
            raise AllearsError(
                f"a consensus is found among samples, of which there are 0 (no consensus) or more; "
                f"got {self.consensus} by {self.method}"
            )
        if self.width < 1:
            raise AllearsError(f"a beam search needs a width of at least 1, not {self.width}")
        # these check the rest, before anything is written
        self.processors(end=0)
        self.warps()

    def processors(self, end: int) -> list[Processor]:
        found = []
        if self.repetition_penalty != 1:
            found.append(limits.repetition_penalty(self.repetition_penalty))
        if self.no_repeated_ngrams is not None:
            found.append(limits.no_repeated_ngrams(self.no_repeated_ngrams))
        if self.shortest:
            found.append(limits.at_least(self.shortest, end))
        return found

    def warps(self) -> list[Warp]:
        """In Hugging Face's order: temperature first."""
        found = []
        if self.temperature != 1:
            found.append(warps.temperature(self.temperature))
        if self.top_k is not None:
            found.append(warps.top_k(self.top_k))
        if self.top_p is not None:
            found.append(warps.top_p(self.top_p))
        return found


# PAL, section 4.3.
PAL_SETTINGS = Settings(temperature=0.5, top_k=10, top_p=0.9, repetition_penalty=1.03)
# Of the voices that ship with allears. Chosen on PESConv's valid split: as varied as what PAL writes, and not much
# further from people's words (BLEU-2) than with PAL's own 0.5, with which a small model says the same few things.
VOICE_SETTINGS = Settings(temperature=0.95, top_p=0.9, repetition_penalty=1.03)
# Of the language-model voice, for whom time does not matter. Chosen on the same split: as varied as what PAL writes.
CONSENSUS_SETTINGS = Settings(temperature=0.9, top_p=0.9, repetition_penalty=1.03, consensus=32)


def write(
    settings: Settings,
    step: Step,
    state: State,
    start: Array,
    *,
    end: int,
    count: int = 1,
    seed: Seed = 0,
    processors: Sequence[Processor] = (),
    constraint: Constraint | None = None,
    reorder: Reorder = take_rows,
) -> list[list[Written]]:
    """`count` texts for each row of `start` [B]. Greedy and beam search have only one; diverse beam search makes
    as many groups. `processors` are the generator's own, and come first."""
    if count > 1 and settings.method in ("greedy", "beam"):
        raise AllearsError(
            f"{settings.method} decoding has only one answer; for {count} of them use sample or diverse"
        )
    shared: dict[str, Any] = {
        "end": end,
        "limit": settings.longest,
        "processors": [*processors, *settings.processors(end)],
        "constraint": constraint,
        "reorder": reorder,
    }
    match settings.method:
        case "greedy":
            return [[each] for each in greedy(step, state, start, **shared)]
        case "sample":
            return sample(step, state, start, seed=seed, count=count, warps=settings.warps(), **shared)
        case "beam" | "diverse":
            return diverse_beam_search(
                step,
                state,
                start,
                groups=count,
                width=settings.width,
                diversity=settings.diversity,
                length_penalty=settings.length_penalty,
                **shared,
            )
