"""ROUGE-L of one text against another, in plain Python: for choosing among checkpoints while training.

What is reported comes from the rouge-score package (`allears evaluate`); without its optional stemmer, that is
the same number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"[a-z0-9]+")


def rouge_l(hypothesis: str, reference: str) -> float:
    """F-measure on the longest common subsequence of words, as a percentage; 0 where a side has no words."""
    mine, gold = _WORD.findall(hypothesis.lower()), _WORD.findall(reference.lower())
    common = longest_common_subsequence(mine, gold)
    return 200.0 * common / (len(mine) + len(gold)) if common else 0.0


def longest_common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Its length."""
    row = [0] * (len(second) + 1)
    for mine in first:
        before = 0  # the last row's value, one place to the left
        for place, theirs in enumerate(second, 1):
            before, row[place] = row[place], before + 1 if mine == theirs else max(row[place], row[place - 1])
    return row[-1]
