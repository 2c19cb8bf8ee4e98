"""BLEU in the three ways the papers report it.

Three different numbers go by the name BLEU, so they have three names here:

- `bleu(..., n)`: corpus BLEU-n, uniform weights up to n, on text that is tokenised here;
- `avg_bleu`: the ED paper's AVG BLEU, the mean of BLEU-1, -2, -3 and -4;
- `moses_bleu`: BLEU-4 as the Moses script multi-bleu.perl computes it (MoEL, MIME), on text that its author
  tokenised already.

All are percentages. No smoothing: without a single matching n-gram of some order, BLEU is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allears.errors import AllearsError


def bleu(hypotheses: Sequence[str], references: Sequence[str], n: int = 4) -> float:
    """Corpus BLEU-n: the geometric mean of the precisions of 1-grams to n-grams, with equal weights, times
    the brevity penalty. One reference per hypothesis; lower-cased, tokenised like mteval-v13a."""
    if n < 1:
        raise ValueError(f"BLEU-n needs n of at least 1, got {n}")
    return _corpus_bleu(hypotheses, references, n, tokenize="13a")


def avg_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """The ED paper's AVG BLEU: the mean of BLEU-1, BLEU-2, BLEU-3 and BLEU-4."""
    return sum(bleu(hypotheses, references, n) for n in (1, 2, 3, 4)) / 4


def moses_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Corpus BLEU-4 with brevity penalty as multi-bleu.perl -lc computes it: tokens are what whitespace
    separates, so pass text that is tokenised already (MoEL and MIME tokenise with NLTK)."""
    return _corpus_bleu(hypotheses, references, 4, tokenize="none")


def _corpus_bleu(hypotheses: Sequence[str], references: Sequence[str], n: int, *, tokenize: str) -> float:
    if len(hypotheses) != len(references) or not hypotheses:
        raise ValueError(
            f"BLEU needs one reference per hypothesis: got {len(hypotheses)} and {len(references)}"
        )
    metric = sacrebleu_metrics().BLEU(
        max_ngram_order=n, tokenize=tokenize, lowercase=True, smooth_method="none", force=True
    )
    return float(metric.corpus_score(list(hypotheses), [list(references)]).score)


def sacrebleu_metrics() -> Any:
    """The library behind BLEU, imported when first needed; an `AllearsError` when it is not installed."""
    try:
        from sacrebleu import metrics
    except ImportError as error:
        raise AllearsError('BLEU needs sacrebleu; run pip install "allears[train]"') from error
    return metrics
