"""What a drawn reply earns: how near it is to what the person wrote, and how much of it nobody else says.

overlap    rouge * ROUGE-L  +  bleu * BLEU-2 of the sentence             of one reply, from 0 on
credit     mean over its bigrams of 1 / (how often all replies have it)  summed over bigrams: Distinct-2
advantage  (reward - mean of the prompt's other draws) / deviation       (leave-one-out; Ahmadian et al. 2024)

No torch here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError
from allears.metrics.bleu import sacrebleu_metrics
from allears.metrics.rouge import rouge_l
from allears.text.tokenizer import words

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardOptions:
    """A recipe's [reward]. `rouge`, `bleu` and `distinct` weigh what a reply earns."""

    draws: int = 0  # replies drawn for each prompt of a step; 0: no rewards
    temperature: float = 1.0
    rouge: float = 1.0
    bleu: float = 0.5
    distinct: float = 0.3
    likelihood: float = 0.1  # what the ordinary loss of the gold reply counts beside
    longest: int = 60  # tokens of a draw; never more than limits.response_tokens

    def __post_init__(self) -> None:
        if self.draws < 0 or self.draws == 1:
            raise AllearsError(
                f"recipe: reward.draws must be 0 (no rewards) or at least 2 (draws are compared with each other), "
                f"got {self.draws}"
            )
        if not self.temperature > 0:
            raise AllearsError(f"recipe: reward.temperature must be above 0, got {self.temperature}")
        if self.longest < 1:
            raise AllearsError(f"recipe: reward.longest must be at least 1, got {self.longest}")
        for name in ("rouge", "bleu", "distinct", "likelihood"):
            if getattr(self, name) < 0:
                raise AllearsError(f"recipe: reward.{name} cannot be below 0, got {getattr(self, name)}")
        if not self.rouge + self.bleu + self.distinct > 0:
            raise AllearsError("recipe: [reward] needs one of rouge, bleu and distinct above 0")


def rewards(draws: Sequence[Sequence[str]], references: Sequence[str], options: RewardOptions) -> Numbers:
    """[prompts, draws] of the draws for each prompt."""
    found = np.array(
        [
            [overlap(reply, gold, rouge=options.rouge, bleu=options.bleu) for reply in own]
            for own, gold in zip(draws, references, strict=True)
        ]
    )
    if options.distinct:
        # one draw of every prompt at a time: those of the same prompt may be alike
        columns = [distinct_credit([words(reply) for reply in column]) for column in zip(*draws, strict=True)]
        found += options.distinct * np.stack(columns, 1)
    return found


def overlap(reply: str, reference: str, *, rouge: float = 1.0, bleu: float = 0.5) -> float:
    """Both are as `allears evaluate` measures them, but shares instead of percentages."""
    found = rouge * rouge_l(reply, reference) / 100 if rouge else 0.0
    return found + bleu * sentence_bleu_2(reply, reference) if bleu else found


def sentence_bleu_2(reply: str, reference: str) -> float:
    """BLEU-2 of one sentence, with one more bigram found than there is: most replies share none."""
    cut = _bleu_words()
    mine, gold = cut(reply.lower()).split(), cut(reference.lower()).split()
    same = _common(mine, gold)
    if not same:
        return 0.0
    pairs = _common(list(pairwise(mine)), list(pairwise(gold)))
    brevity = math.exp(min(0.0, 1 - len(gold) / len(mine)))
    return brevity * math.sqrt(same / len(mine) * (pairs + 1) / len(mine))  # bigrams are one fewer than words


def distinct_credit(replies: Sequence[Sequence[str]]) -> Numbers:
    """Each reply's share of Distinct-2 of them all: weighted by their bigrams, the mean is that. 0 without bigrams."""
    pairs = [list(pairwise(reply)) for reply in replies]
    counts = Counter(pair for own in pairs for pair in own)
    return np.array([sum(1 / counts[pair] for pair in own) / len(own) if own else 0.0 for own in pairs])


def advantages(earned: npt.ArrayLike) -> Numbers:
    """Of rewards [prompts, draws]: how much more each draw earned than the prompt's others did on average, in standard
    deviations of that over the batch. All zeros where all draws earn the same."""
    given = np.asarray(earned, np.float64)
    draws = given.shape[1]
    others = (given.sum(1, keepdims=True) - given) / (draws - 1)
    more = given - others
    deviation = float(more.std())
    return more / deviation if deviation > 1e-9 else np.zeros_like(more)


def _common(mine: Sequence[object], gold: Sequence[object]) -> int:
    """How many of mine are among the gold ones, each as often as there at most."""
    return sum((Counter(mine) & Counter(gold)).values())


@lru_cache(maxsize=1)
def _bleu_words() -> Callable[[str], str]:
    """How the project's BLEU cuts a text: words with spaces between them."""
    cut: Callable[[str], str] = sacrebleu_metrics().BLEU(tokenize="13a").tokenizer
    return cut
