"""One reply of many draws: the one that most of the others agree with (minimum Bayes risk, in the linear form of
Tromble et al. 2008), and that fits what was said.

agreement(y) = mean over the other draws y' of  m1(y, y') / 0.4 + m2(y, y') / (2 * 0.01)  -  |y|
chosen       = the highest z(agreement) + 0.8 z(CoBERT), where a ranker is at hand

m1, m2: how many words and pairs of words of y are in y' too, each as often as there at most; z: in standard deviations
among the draws. No draw knows what a person would have answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from allears.decoding import Settings
from allears.metrics.rouge import rouge_words
from allears.runtime.generator import Generated

# What is shared counts by how rarely it is: two draws share four words in ten, but few pairs of words. A word has its
# price, or long replies would win by their length. Chosen on PESConv's valid split, for the voice smollm2.
WORD_SHARE, PAIR_SHARE, WORD_PRICE = 0.4, 0.01, 1.0
RANKER_WEIGHT = 0.8

Numbers = npt.NDArray[np.float64]


def agreement(texts: Sequence[str]) -> Numbers:
    """Of each text with the others; zeros where there is but one."""
    if len(texts) < 2:
        return np.zeros(len(texts))
    said = [rouge_words(text) for text in texts]
    words = _shared([Counter(each) for each in said])
    pairs = _shared([Counter(pairwise(each)) for each in said])
    others = (words / WORD_SHARE + pairs / (2 * PAIR_SHARE)).sum(1) / (len(texts) - 1)
    return np.asarray(others - WORD_PRICE * np.array([len(each) for each in said]), np.float64)


def _shared(counts: Sequence[Counter[Hashable]]) -> Numbers:
    """[N, N]: how much two texts have in common; nothing of a text with itself."""
    columns = {key: place for place, key in enumerate(dict.fromkeys(key for own in counts for key in own))}
    table = np.zeros((len(counts), len(columns)))
    for row, own in enumerate(counts):
        table[row, [columns[key] for key in own]] = list(own.values())
    found = np.minimum(table[:, None], table[None]).sum(-1)
    np.fill_diagonal(found, 0.0)
    return np.asarray(found, np.float64)


def draws_for(settings: Settings, count: int) -> int:
    """How many replies are written, if `count` of them are wanted."""
    return max(count, settings.consensus)


def most_agreed(
    drawn: Sequence[Generated], count: int, scores: npt.ArrayLike | None = None
) -> list[Generated]:
    """The best `count`, best first; all as they are where no more were drawn. `scores`: a ranker's."""
    if len(drawn) <= count:
        return list(drawn)
    worth = _standard(agreement([each.text for each in drawn]))
    if scores is not None:
        worth = worth + RANKER_WEIGHT * _standard(np.asarray(scores, np.float64))
    return [drawn[place] for place in np.argsort(-worth, kind="stable")[:count]]


def _standard(values: Numbers) -> Numbers:
    return np.asarray((values - values.mean()) / (float(values.std()) or 1.0), np.float64)
