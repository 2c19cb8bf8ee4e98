"""How much a strategy leans on the persona: the alphas of PAL's equation 6."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from allears.errors import AllearsError

LARGEST = 5.0  # the paper stops at 0.75; far beyond, all that is left of a sentence is its persona


@dataclass(frozen=True, slots=True)
class AlphaTable:
    """An alpha for each strategy, and where they come from."""

    by_strategy: Mapping[str, float]
    source: str

    def __post_init__(self) -> None:
        for strategy, alpha in self.by_strategy.items():
            if not 0 <= alpha <= LARGEST:
                raise AllearsError(
                    f"the alpha of {strategy!r} is {alpha}; it must lie between 0 and {LARGEST:g}"
                )
        object.__setattr__(self, "by_strategy", MappingProxyType(dict(self.by_strategy)))

    def of(self, strategy: str) -> float:
        found = self.by_strategy.get(strategy)
        if found is None:
            raise AllearsError(f"there is no strategy {strategy!r}; there are: {', '.join(self.by_strategy)}")
        return found

    def by_token(self, tokens: Mapping[str, int]) -> dict[int, float]:
        """For a model that writes strategies as tokens: the alpha of each of them."""
        return {token: self.of(strategy) for strategy, token in tokens.items()}

    def changed(self, alphas: Mapping[str, float]) -> AlphaTable:
        """The same table but for these strategies, each of which it must know."""
        for strategy in alphas:
            self.of(strategy)
        return replace(self, by_strategy={**self.by_strategy, **alphas}, source=f"{self.source}, changed")

    def all(self, alpha: float) -> AlphaTable:
        """The same strategies, all with one alpha; 0 is PAL without its decoding (Table 3, "PAL (α = 0)")."""
        return AlphaTable(dict.fromkeys(self.by_strategy, alpha), f"{alpha} for every strategy")


# The names are ESConv's (`corpora.esconv.STRATEGIES`).
PAL_ALPHAS = AlphaTable(
    {
        "Question": 0.0,
        "Restatement or Paraphrasing": 0.75,
        "Reflection of feelings": 0.0,
        "Self-disclosure": 0.0,
        "Affirmation and Reassurance": 0.75,
        "Providing Suggestions": 0.75,
        "Information": 0.75,
        "Others": 0.375,
    },
    source="PAL (Cheng et al. 2023), Table 2",
)
