"""Evaluation of what was felt: emotion accuracy, positive and negative ones apart, replies over seeds, listeners."""

from __future__ import annotations

from pathlib import Path

import pytest
from empathetic_models import felt_talks, small_empathetic

from allears.decoding import Settings
from allears.errors import AllearsError
from allears.evaluation.generation import evaluate_generation, reply_spread
from allears.labels import ED_EMOTIONS, ED_GROUPS, POSITIVE
from allears.runtime.generator import Generated, Likelihood


class Knowing:
    """Says the emotion it was told to; likelihoods are better for positive ones."""

    def __init__(self, named, labels=ED_EMOTIONS):
        self.named, self.emotion_labels = named, labels

    def emotions(self, prompts):
        return [tuple((name, 0.1) for name in self.named) for _ in prompts]

    def generate(self, prompts, settings, seed=0, *, count=1, alphas=None):
        seeds = [seed] * len(prompts) if isinstance(seed, int) else seed
        return [[Generated(f"reply {number // 1_000_003 % 2}", "", -1.0)] for number in seeds]

    def log_likelihood(self, prompts, responses):
        proud = [any(name in prompt.turns[0].text for name in POSITIVE) for prompt in prompts]
        return [Likelihood(-10.0 if each else -20.0, 10) for each in proud]


GREEDY = Settings(method="greedy", longest=8)


def test_emotions_are_counted_among_the_first_one_two_and_five():
    examples = felt_talks(6)  # one each of proud, afraid, lonely, joyful, guilty, hopeful
    generator = Knowing(["proud", "afraid", "sad", "angry", "lonely", "joyful"])
    found = evaluate_generation(generator, examples, settings=GREEDY).measures
    assert found["emotion_accuracy"] == pytest.approx(100 / 6)
    assert found["emotion_top_2"] == pytest.approx(200 / 6)
    assert found["emotion_top_5"] == pytest.approx(300 / 6)


def test_a_generator_of_sixteen_groups_is_asked_for_groups():
    generator = Knowing(["proud+impressed"], ED_GROUPS)
    found = evaluate_generation(generator, felt_talks(6), settings=GREEDY).measures
    assert found["emotion_accuracy"] == pytest.approx(100 / 6)


def test_a_generator_that_names_no_emotion_has_no_accuracy():
    found = evaluate_generation(small_empathetic("transformer"), felt_talks(4), settings=GREEDY).measures
    assert "emotion_accuracy" not in found
    assert "ppl_positive" in found


def test_positive_and_negative_emotions_are_told_apart():
    found = evaluate_generation(Knowing(["proud"]), felt_talks(6), settings=GREEDY).measures
    assert found["examples_positive"] == 3  # proud, joyful, hopeful
    assert found["examples_negative"] == 3
    assert found["ppl_positive"] == pytest.approx(2.718281828)
    assert found["ppl_negative"] == pytest.approx(2.718281828**2)
    assert found["emotion_accuracy_positive"] == pytest.approx(100 / 3)
    assert found["emotion_accuracy_negative"] == 0
    assert "ppl_positive" not in evaluate_generation(
        Knowing(["proud"]), felt_talks(6), settings=GREEDY, by_polarity=False
    ).measures  # fmt: skip


def test_the_spread_over_seeds_counts_replies_that_differ():
    found = reply_spread(Knowing([]), felt_talks(5), settings=GREEDY, seeds=range(3))  # replies 0, 1, 0
    assert found["spread_different"] == pytest.approx(200 / 3)
    assert found["spread_seeds"] == 3
    with pytest.raises(ValueError, match="at least 2 seeds"):
        reply_spread(Knowing([]), felt_talks(5), settings=GREEDY, seeds=[1])


def test_a_model_without_chance_says_the_same_with_every_seed():
    found = reply_spread(small_empathetic("moel"), felt_talks(3), settings=GREEDY, seeds=(0, 1))
    assert found["spread_different"] == 0
    assert found["spread_moses_bleu_std"] == 0


def all_emotions():
    from dataclasses import replace

    (example,) = felt_talks(1)
    return [
        replace(example, labels=replace(example.labels, emotion=emotion), response=f"so you are {emotion}")
        for emotion in ED_EMOTIONS
    ]


@pytest.mark.parametrize("name", ["moel", "modmoel all"])
def test_listeners_are_scored_on_every_emotion(name: str, tmp_path: Path):
    from allears.evaluation.moel_listeners import listeners, save_listeners_picture

    found = listeners(small_empathetic(name), all_emotions(), each=1)
    assert found.likelihood.shape == found.attention.shape == (32, 32)
    assert found.attention.sum(axis=1) == pytest.approx([1.0] * 32)
    assert found.gain.sum(axis=1) == pytest.approx([0.0] * 32, abs=1e-9)
    assert found.apart > 0
    flat = found.flat()
    assert 1 <= flat["own_listener_rank"] <= 32
    save_listeners_picture(found, "made up", tmp_path / "listeners.png")
    assert (tmp_path / "listeners.png").stat().st_size > 10_000


def test_listeners_that_learned_their_emotion_are_told_from_those_that_did_not():
    from empathetic_models import learn_by_heart

    from allears.evaluation.moel_listeners import listeners
    from allears.models.generation.empathetic import Learning

    generator, examples = small_empathetic("moel"), felt_talks(6)
    before = listeners(generator, [*all_emotions(), *examples], each=50).gain
    learn_by_heart(generator, examples, steps=60, learning=Learning(gold=1.0))
    after = listeners(generator, [*all_emotions(), *examples], each=50).gain
    learned = [ED_EMOTIONS.index(example.labels.emotion) for example in examples]
    assert after[learned, learned].mean() > before[learned, learned].mean() + 0.01


def test_other_generators_have_no_listeners():
    from allears.evaluation.moel_listeners import listeners

    with pytest.raises(AllearsError, match="only MoEL and ModMoEL have listeners"):
        listeners(small_empathetic("multitask"), felt_talks(2))
