"""What changes the logits before a token is chosen, in any search. Pure functions, composed in a list.

Each maker returns a function `(logits [B, V], written) -> logits`; with "written" the tokens of each row so far.
On greedy decoding and sampling they mean what their namesakes in Hugging Face `generate` mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace

from allears.decoding.arrays import bar, bar_tokens, integers
from allears.decoding.contract import Array, Processor
from allears.errors import AllearsError


def repetition_penalty(penalty: float) -> Processor:
    """Makes what was written already less likely (Keskar et al. 2019): a positive logit is divided by the penalty, a
    negative one multiplied. 1 changes nothing; PAL uses 1.03."""
    if not penalty > 0:
        raise AllearsError(f"a repetition penalty is above 0 (1 changes nothing), not {penalty}")

    def process(logits: Array, written: Sequence[Sequence[int]]) -> Array:
        xp = array_namespace(logits)
        pairs = [(row, token) for row, tokens in enumerate(written) for token in dict.fromkeys(tokens)]
        rows, places = (integers(side, logits) for side in zip(*pairs, strict=True)) if pairs else ([], [])
        old = logits[rows, places]
        found = xp.asarray(logits, copy=True)
        found[rows, places] = xp.where(old > 0, old / penalty, old * penalty)
        return found

    return process


def no_repeated_ngrams(size: int) -> Processor:
    """Bars every token that would complete an n-gram of this size a second time."""
    if size < 1:
        raise AllearsError(f"an n-gram has at least 1 token, not {size}")

    def process(logits: Array, written: Sequence[Sequence[int]]) -> Array:
        return bar_tokens(logits, [_completing(tokens, size) for tokens in written])

    return process


def at_least(length: int, end: int) -> Processor:
    """Bars the end before so many tokens are written. (At most: every search's `limit`.)"""

    def process(logits: Array, written: Sequence[Sequence[int]]) -> Array:
        return bar_tokens(logits, [[end] if len(tokens) < length else [] for tokens in written])

    return process


def never(tokens: Iterable[int]) -> Processor:
    """Bars these tokens for good."""
    barred = list(tokens)

    def process(logits: Array, written: Sequence[Sequence[int]]) -> Array:
        return bar_tokens(logits, [barred] * len(written))

    return process


def begin_with(tokens: Iterable[int]) -> Processor:
    """Bars all but these tokens at the beginning, and these anywhere else: a text starts with its strategy."""
    first = list(tokens)

    def process(logits: Array, written: Sequence[Sequence[int]]) -> Array:
        mask = _mask(logits, [first] * len(written))
        at_start = np.array([not each for each in written], np.bool_)
        return bar(logits, mask ^ at_start[:, None])

    return process


def _completing(tokens: Sequence[int], size: int) -> list[int]:
    """What followed the last `size` - 1 tokens before."""
    start = len(tokens) - size + 1
    if start < 1:
        return []
    last = list(tokens[start:])
    return [
        tokens[place + size - 1] for place in range(start) if list(tokens[place : place + size - 1]) == last
    ]


def _mask(logits: Array, tokens: Sequence[Sequence[int]]) -> npt.NDArray[np.bool_]:
    """[B, V]: true at each row's tokens."""
    found = np.zeros(tuple(logits.shape), np.bool_)
    for row, own in zip(found, tokens, strict=True):
        row[list(own)] = True
    return found
