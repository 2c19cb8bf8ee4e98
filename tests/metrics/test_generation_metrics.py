"""All measures of replies at once: each under its name, with the number of its own function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from allears.metrics.bleu import avg_bleu, bleu
from allears.metrics.closeness import cos_sim
from allears.metrics.diversity import distinct_n, ead_n
from allears.metrics.generation import PAL_VOCABULARY, generation_measures
from allears.metrics.meteor import meteor
from allears.models.reader.sentiment import VaderSentiment

REPLIES = ["I am so sorry to hear about your job.", "How do you feel now?", "That is great, well done!"]
GOLD = ["I am sorry you lost your job.", "How are you feeling today?", "Well done, that is wonderful!"]
ALWAYS = {
    "bleu_1", "bleu_2", "bleu_3", "bleu_4", "avg_bleu", "moses_bleu", "rouge_l", "meteor", "meteor_synonyms",
    "distinct_1", "distinct_2", "ead_1", "ead_2", "repetition", "length", "examples",
}  # fmt: skip


def test_without_more_than_texts_it_measures_texts() -> None:
    found = generation_measures(REPLIES, GOLD)
    assert set(found) == ALWAYS
    assert found["bleu_2"] == bleu(REPLIES, GOLD, 2)
    assert found["avg_bleu"] == avg_bleu(REPLIES, GOLD)
    assert found["meteor"] == meteor(REPLIES, GOLD)
    assert found["distinct_2"] == distinct_n(REPLIES, 2)
    assert found["ead_2"] == ead_n(REPLIES, 2, PAL_VOCABULARY)
    assert found["examples"] == 3
    assert found["length"] == pytest.approx((10 + 6 + 7) / 3)


def test_rouge_l_is_the_packages() -> None:
    scorer = RougeScorer(["rougeL"])
    theirs = [scorer.score(gold, mine)["rougeL"].fmeasure for mine, gold in zip(REPLIES, GOLD, strict=True)]
    assert generation_measures(REPLIES, GOLD)["rouge_l"] == pytest.approx(100 * np.mean(theirs))


def test_perplexity_needs_losses() -> None:
    found = generation_measures(REPLIES, GOLD, losses=[8.0, 6.0, 6.0], tokens=[4, 3, 3])
    assert found["ppl"] == pytest.approx(np.exp(2.0))
    assert found["ppl_word"] == pytest.approx(np.exp(20 / (8 + 6 + 6)))
    assert set(generation_measures(REPLIES, GOLD, losses=[8.0, 6.0, 6.0])) == ALWAYS | {"ppl_word"}


def test_strategies_are_ranked_as_far_as_the_model_ranked_them() -> None:
    ranked = [["Others", "Question", "Information"], ["Question", "Others", "Information"], ["Others"] * 3]
    found = generation_measures(
        REPLIES, GOLD, strategies=ranked, gold_strategies=["Question", "Question", "Information"]
    )
    assert {name: found[name] for name in found if name.startswith("strategy")} == pytest.approx(
        {"strategy_accuracy": 100 / 3, "strategy_top_2": 200 / 3, "strategy_top_3": 200 / 3}
    )


def test_persona_similarity_embeds_every_sentence_once() -> None:
    asked: list[list[str]] = []

    def embed(texts: Sequence[str]) -> np.ndarray:
        asked.append(list(texts))
        return np.array([[len(text), text.count("e"), 1.0] for text in texts])

    personas = [["I lost my job.", "I have a dog."], ["I have a dog."], []]
    found = generation_measures(REPLIES, GOLD, personas=personas, embed=embed)
    assert asked == [["I lost my job.", "I have a dog."], REPLIES]
    assert found["cos_sim"] == cos_sim(
        embed(REPLIES), [embed(persona) if persona else np.zeros((0, 3)) for persona in personas]
    )


def test_without_any_persona_there_is_no_similarity() -> None:
    found = generation_measures(REPLIES, GOLD, personas=[[], [], []], embed=lambda texts: np.ones((3, 1)))
    assert set(found) == ALWAYS


def test_sentiment_gain_is_the_reply_less_what_it_answers() -> None:
    vader = VaderSentiment()
    sources = ["I lost my job.", "I feel awful.", "I passed my exam!"]
    found = generation_measures(REPLIES, GOLD, sources=sources, sentiment=vader.compound)
    expected = np.mean(vader.compound(REPLIES)) - np.mean(vader.compound(sources))
    assert found["sentiment_gain"] == pytest.approx(expected)


def test_a_perfect_and_a_silent_model() -> None:
    perfect, silent = generation_measures(GOLD, GOLD), generation_measures(["", "", ""], GOLD)
    assert perfect["bleu_4"] == pytest.approx(100)
    assert perfect["rouge_l"] == pytest.approx(100)
    assert all(silent[name] == 0 for name in ALWAYS - {"examples", "meteor_synonyms"})


def test_every_reply_needs_a_reference() -> None:
    with pytest.raises(ValueError, match="got 3 and 2"):
        generation_measures(REPLIES, GOLD[:2])
    with pytest.raises(ValueError, match="got 0 and 0"):
        generation_measures([], [])
