"""Perplexity, per token and per word. The first depends on how a model cuts its text, the second does not."""

from __future__ import annotations

import math
from collections.abc import Sequence


def ppl(losses: Sequence[float], tokens: Sequence[int]) -> float:
    """exp of the mean loss per token. For each response: the negative log-likelihood of all its tokens and its end,
    summed (in nats), and how many tokens that were, the end included."""
    if len(losses) != len(tokens):
        raise ValueError(
            f"every response has a loss and a number of tokens: got {len(losses)} and {len(tokens)}"
        )
    return _exp_mean(losses, sum(tokens))


def ppl_word(losses: Sequence[float], references: Sequence[str]) -> float:
    """exp of the mean loss per word: words are what whitespace separates, and each response has one end more."""
    if len(losses) != len(references):
        raise ValueError(f"every response has a loss: got {len(losses)} for {len(references)} responses")
    return _exp_mean(losses, sum(len(text.split()) + 1 for text in references))


def _exp_mean(losses: Sequence[float], count: int) -> float:
    if count < 1:
        raise ValueError("perplexity needs at least one token")
    mean = math.fsum(losses) / count
    return math.exp(mean) if mean < 700 else math.inf
