"""ROUGE-L of one text against another, in plain Python: for training, which asks often.

What is reported comes from the rouge-score package (`allears evaluate`); without its optional stemmer, that is
the same number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"[a-z0-9]+")


def rouge_l(hypothesis: str, reference: str) -> float:
    """F-measure on the longest common subsequence of words, as a percentage; 0 where a side has no words."""
    mine, gold = rouge_words(hypothesis), rouge_words(reference)
    common = longest_common_subsequence(mine, gold)
    return 200.0 * common / (len(mine) + len(gold)) if common else 0.0


def rouge_words(text: str) -> list[str]:
    """As rouge-score cuts a text."""
    return _WORD.findall(text.lower())


def longest_common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Its length. A row of the usual table is the bits of one number (Hyyrö 2004), cleared where it grows."""
    places: dict[str, int] = {}
    for place, word in enumerate(second):
        places[word] = places.get(word, 0) | 1 << place
    row = whole = (1 << len(second)) - 1
    for word in first:
        same = row & places.get(word, 0)
        row = (row + same | row - same) & whole
    return len(second) - row.bit_count()
