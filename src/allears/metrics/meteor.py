"""METEOR (Lavie & Agarwal 2007) as NLTK computes it: words match if they are equal, share a stem, or are synonyms.

Synonyms come from WordNet, which NLTK keeps as data of its own (`python -m nltk.downloader wordnet`). Nothing is
downloaded here: where WordNet is missing, words match by themselves and their stems only, and the score is a little
lower. `has_synonyms` tells which of the two it is; compare only scores of the same kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from allears.errors import AllearsError
from allears.text.tokenizer import words


def meteor(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """The mean over all hypotheses, each with one reference, as a percentage. Lower-cased words and marks."""
    if len(hypotheses) != len(references) or not hypotheses:
        raise ValueError(
            f"METEOR needs one reference per hypothesis: got {len(hypotheses)} and {len(references)}"
        )
    score, synonyms = _nltk().single_meteor_score, _synonyms()
    found = [
        score(words(gold), words(mine), wordnet=synonyms)
        for mine, gold in zip(hypotheses, references, strict=True)
    ]
    return 100.0 * float(sum(found)) / len(found)


def has_synonyms() -> bool:
    """Whether WordNet is at hand."""
    return not isinstance(_synonyms(), _NoSynonyms)


class _NoSynonyms:
    def synsets(self, word: str) -> list[Any]:
        return []


@cache
def _synonyms() -> Any:
    _nltk()
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError:
        return _NoSynonyms()
    return wordnet


def _nltk() -> Any:
    try:
        from nltk.translate import meteor_score
    except ImportError as error:
        raise AllearsError('METEOR needs NLTK; run pip install "allears[train]"') from error
    return meteor_score
