"""What drawn replies earn: the same numbers as the measures', and advantages by hand."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from allears.errors import AllearsError
from allears.metrics.diversity import distinct_n
from allears.metrics.rouge import rouge_l
from allears.text.tokenizer import words
from allears.training.generation.rewards import (
    RewardOptions,
    advantages,
    distinct_credit,
    overlap,
    rewards,
    sentence_bleu_2,
)
from allears.training.recipe import parse

THINGS = [
    "I",
    "am",
    "sorry",
    "it's",
    "hard,",
    "your",
    "Cat",
    "cat.",
    "was",
    "lost",
    "3.5",
    "times",
    "don't",
    "know?",
]


def some_texts(count: int, seed: int = 0, most: int = 14) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(THINGS, k=chance.randint(0, most))) for _ in range(count)]


def pairs() -> list[tuple[str, str]]:
    return list(zip(some_texts(120), some_texts(120, seed=1), strict=True))


def test_the_rouge_part_is_rouge_scores():
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rougeL"])
    for reply, gold in pairs():
        expected = scorer.score(gold, reply)["rougeL"].fmeasure
        assert overlap(reply, gold, rouge=2.0, bleu=0.0) == pytest.approx(2 * expected)


def test_the_rouge_part_is_the_projects_measure():
    for reply, gold in pairs():
        assert 100 * overlap(reply, gold, rouge=1.0, bleu=0.0) == pytest.approx(rouge_l(reply, gold))


def test_the_bleu_part_is_sacrebleus_with_one_bigram_added():
    from sacrebleu.metrics import BLEU

    metric = BLEU(
        max_ngram_order=2, lowercase=True, smooth_method="add-k", smooth_value=1, effective_order=True
    )
    for reply, gold in pairs():
        if len(words(reply)) > 1:  # below, an effective order is another one
            expected = metric.sentence_score(reply, [gold]).score / 100
            assert sentence_bleu_2(reply, gold) == pytest.approx(expected)
            assert overlap(reply, gold, rouge=0.0, bleu=0.5) == pytest.approx(expected / 2)
    assert sentence_bleu_2("so sorry.", "So sorry.") == pytest.approx(1.0)
    assert sentence_bleu_2("", "So sorry.") == sentence_bleu_2("So sorry.", "") == 0


def test_the_credits_weighted_by_bigrams_are_distinct_2():
    replies = some_texts(40)
    cut = [words(reply) for reply in replies]
    bigrams = np.array([max(0, len(each) - 1) for each in cut])
    mean = (distinct_credit(cut) * bigrams).sum() / bigrams.sum()
    assert 100 * mean == pytest.approx(distinct_n(replies, 2))


def test_what_everybody_says_earns_a_share_of_it():
    found = distinct_credit([["so", "sorry"], ["so", "sorry"], ["a", "cat", "sat"], ["hm"], []])
    assert found.tolist() == [0.5, 0.5, 1.0, 0.0, 0.0]


def test_draws_for_the_same_prompt_are_not_held_against_each_other():
    options = RewardOptions(draws=2, rouge=0.0, bleu=0.0, distinct=1.0)
    alike_in_a_row = rewards([["so sorry", "so sorry"], ["a cat", "a cat"]], ["", ""], options)
    alike_in_a_column = rewards([["so sorry", "a cat"], ["so sorry", "a dog"]], ["", ""], options)
    assert alike_in_a_row.tolist() == [[1, 1], [1, 1]]
    assert alike_in_a_column.tolist() == [[0.5, 1], [0.5, 1]]


def test_a_reward_is_the_weighted_sum():
    options = RewardOptions(draws=2, rouge=1.0, bleu=0.5, distinct=0.25)
    found = rewards([["so sorry", "a cat"]], ["so sorry"], options)
    assert found == pytest.approx(np.array([[1 + 0.5 + 0.25, 0.25]]))


def test_advantages_are_over_the_mean_of_the_others():
    more = np.array([[1 - 2.5, 2 - 2, 3 - 1.5], [0, 0, 0]])
    found = advantages([[1, 2, 3], [5, 5, 5]])
    assert found == pytest.approx(more / more.std())
    assert found.std() == pytest.approx(1.0)
    assert found.sum(1) == pytest.approx(0.0)
    assert advantages([[1, 1], [2, 2]]).tolist() == [[0, 0], [0, 0]]


def test_a_steps_replies_are_rewarded_at_once():
    draws = [some_texts(8, seed=row, most=45) for row in range(64)]
    gold = some_texts(64, seed=99, most=30)
    rewards(draws[:2], gold[:2], RewardOptions(draws=8))  # what is imported and cached
    start = time.process_time()
    rewards(draws, gold, RewardOptions(draws=8))
    assert time.process_time() - start < 0.2


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"draws": 1}, r"reward.draws must be 0 .* or at least 2 .*, got 1"),
        ({"draws": -2}, "got -2"),
        ({"draws": 2.5}, "reward.draws must be of type int, got 2.5"),
        ({"temperature": 0.0}, "reward.temperature must be above 0, got 0.0"),
        ({"longest": 0}, "reward.longest must be at least 1, got 0"),
        ({"bleu": -1.0}, "reward.bleu cannot be below 0, got -1.0"),
        ({"rouge": 0.0, "bleu": 0.0, "distinct": 0.0}, "needs one of rouge, bleu and distinct above 0"),
        ({"rogue": 1.0}, "unknown key reward.rogue; did you mean 'rouge'"),
    ],
)
def test_wrong_options_are_one_sentence(table, sentence):
    with pytest.raises(AllearsError, match=sentence):
        parse(RewardOptions, table, "reward")
