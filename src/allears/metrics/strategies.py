"""Did a model choose the supporter's strategy? The first token of a reply, against the one that a person chose."""

from __future__ import annotations

from collections.abc import Sequence


def strategy_accuracy(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """The share of replies with the right strategy, as a percentage."""
    return strategy_top_n([[each] for each in predicted], gold, 1)


def strategy_top_n(ranked: Sequence[Sequence[str]], gold: Sequence[str], n: int) -> float:
    """The share of replies whose right strategy is among the n likeliest, as a percentage; likeliest first."""
    if len(ranked) != len(gold) or not gold:
        raise ValueError(f"every reply has a right strategy: got {len(ranked)} and {len(gold)}")
    if n < 1:
        raise ValueError(f"top-n needs n of at least 1, got {n}")
    return 100.0 * sum(right in each[:n] for each, right in zip(ranked, gold, strict=True)) / len(gold)
