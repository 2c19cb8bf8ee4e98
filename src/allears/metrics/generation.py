"""All measures of written replies at once, under the names that `--json` prints.

Shares and BLEU-like scores are percentages; `cos_sim` is a cosine, `sentiment_gain` a difference of VADER's compound.
The papers' BLEUs are three different numbers (see `bleu.py`); `moses_bleu` gets words as MoEL and MIME cut them
(`text.paper_words`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from allears.metrics.bleu import avg_bleu, bleu, moses_bleu
from allears.metrics.closeness import cos_sim, sentiment_gain
from allears.metrics.diversity import distinct_n, ead_n, repetition_rate
from allears.metrics.meteor import has_synonyms, meteor
from allears.metrics.perplexity import ppl, ppl_word
from allears.metrics.rouge import rouge_l
from allears.metrics.strategies import strategy_top_n
from allears.text.paper_words import paper_words
from allears.text.tokenizer import words

Embed = Callable[[Sequence[str]], npt.ArrayLike]  # texts to vectors [N, d]
Sentiment = Callable[[Sequence[str]], npt.ArrayLike]  # texts to one number each

# EAD divides by what a vocabulary of this size would give: Blenderbot-small's, as in PAL, for every model alike.
# (By each model's own, a model could look more varied for knowing fewer words.)
PAL_VOCABULARY = 54_944


def generation_measures(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    vocabulary_size: int = PAL_VOCABULARY,
    losses: Sequence[float] | None = None,
    tokens: Sequence[int] | None = None,
    strategies: Sequence[Sequence[str]] | None = None,
    gold_strategies: Sequence[str] | None = None,
    personas: Sequence[Sequence[str]] | None = None,
    embed: Embed | None = None,
    sources: Sequence[str] | None = None,
    sentiment: Sentiment | None = None,
) -> dict[str, float]:
    """What can be measured with what is given, by name.

    - always: bleu_1 to bleu_4, avg_bleu, moses_bleu, rouge_l, meteor, distinct_1/2, ead_1/2, repetition, length
      (words per reply), examples
    - `losses` of the references (see `perplexity.ppl`): ppl_word; with `tokens` also ppl
    - `strategies`, each reply's likeliest first, and `gold_strategies`: strategy_accuracy, strategy_top_2 and so on
    - `personas`, the sentences about the person each reply is for, and `embed`: cos_sim
    - `sources`, what each reply answers, and `sentiment`: sentiment_gain
    """
    found = _likeness(hypotheses, references) | _variety(hypotheses, vocabulary_size)
    if losses is not None:
        found["ppl_word"] = ppl_word(losses, references)
        if tokens is not None:
            found["ppl"] = ppl(losses, tokens)
    if strategies is not None and gold_strategies is not None:
        found |= _strategies(strategies, gold_strategies)
    if personas is not None and embed is not None and any(personas):
        found["cos_sim"] = _persona_similarity(hypotheses, personas, embed)
    if sources is not None and sentiment is not None:
        found["sentiment_gain"] = sentiment_gain(sentiment(hypotheses), sentiment(sources))
    return found


def _likeness(hypotheses: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    pairs = list(zip(hypotheses, references, strict=False))  # BLEU refuses sides of different length
    tokenised = [[" ".join(paper_words(text)) for text in side] for side in (hypotheses, references)]
    return {
        **{f"bleu_{n}": bleu(hypotheses, references, n) for n in (1, 2, 3, 4)},
        "avg_bleu": avg_bleu(hypotheses, references),
        "moses_bleu": moses_bleu(*tokenised),
        "rouge_l": float(np.mean([rouge_l(mine, gold) for mine, gold in pairs])),
        "meteor": meteor(hypotheses, references),
        "meteor_synonyms": float(has_synonyms()),
    }


def _variety(hypotheses: Sequence[str], vocabulary_size: int) -> dict[str, float]:
    return {
        **{f"distinct_{n}": distinct_n(hypotheses, n) for n in (1, 2)},
        **{f"ead_{n}": ead_n(hypotheses, n, vocabulary_size) for n in (1, 2)},
        "repetition": repetition_rate(hypotheses),
        "length": float(np.mean([len(words(text)) for text in hypotheses])),
        "examples": float(len(hypotheses)),
    }


def _strategies(ranked: Sequence[Sequence[str]], gold: Sequence[str]) -> dict[str, float]:
    most = max(len(each) for each in ranked)
    found = {"strategy_accuracy": strategy_top_n(ranked, gold, 1)}
    return found | {f"strategy_top_{n}": strategy_top_n(ranked, gold, n) for n in range(2, most + 1)}


def _persona_similarity(hypotheses: Sequence[str], personas: Sequence[Sequence[str]], embed: Embed) -> float:
    """Every sentence is embedded once, however many replies it stands behind."""
    sentences = list(dict.fromkeys(sentence for persona in personas for sentence in persona))
    vectors = np.asarray(embed(sentences))
    place = {sentence: row for row, sentence in enumerate(sentences)}
    chosen = [vectors[[place[sentence] for sentence in persona]] for persona in personas]
    return cos_sim(embed(hypotheses), chosen)
