"""How varied replies are, and how much a reply repeats itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from allears.text.tokenizer import words

Split = Callable[[str], list[str]]


def distinct_n(texts: Sequence[str], n: int, *, split: Split = words) -> float:
    """Distinct-n: different n-grams per n-gram over the whole set of texts, as a percentage.

    n-grams do not cross from one text into the next. Without any n-gram it is 0.
    """
    different, total = _ngrams(texts, n, split)
    return 100.0 * different / total if total else 0.0


def ead_n(texts: Sequence[str], n: int, vocabulary_size: int, *, split: Split = words) -> float:
    """Expectation-adjusted distinct-n, as a percentage: different n-grams divided by how many a uniform
    draw would give, V * (1 - ((V - 1) / V) ** C), with V the vocabulary's size and C the number of n-grams.

    Unlike distinct-n it does not fall merely because texts are longer.
    """
    if vocabulary_size < 1:
        raise ValueError(f"the vocabulary has at least 1 word, got {vocabulary_size}")
    different, total = _ngrams(texts, n, split)
    expected = vocabulary_size * (1 - ((vocabulary_size - 1) / vocabulary_size) ** total)
    return 100.0 * different / expected if total else 0.0


def repetition_rate(texts: Sequence[str], n: int = 3, *, split: Split = words) -> float:
    """How many of all n-grams were there before in the very same text, as a percentage (rep-n of Welleck et al.
    2020, over the whole set). Unlike distinct-n it does not mind that two replies are alike."""
    repeated = total = 0
    for text in texts:
        different, own = _ngrams([text], n, split)
        repeated, total = repeated + own - different, total + own
    return 100.0 * repeated / total if total else 0.0


def _ngrams(texts: Sequence[str], n: int, split: Split) -> tuple[int, int]:
    """How many different n-grams there are, and how many in all."""
    if n < 1:
        raise ValueError(f"an n-gram has at least 1 word, got n = {n}")
    different: set[tuple[str, ...]] = set()
    total = 0
    for text in texts:
        tokens = split(text)
        grams = list(zip(*(tokens[start:] for start in range(n)), strict=False))
        different.update(grams)
        total += len(grams)
    return len(different), total
