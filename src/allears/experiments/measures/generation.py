"""What generators write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.experiments.contract import Measurement
from allears.experiments.measures.kind import Measures, device_for, place_of

if TYPE_CHECKING:
    from allears.experiments.lab import Lab


def generation(lab: Lab, asked: Measurement) -> Measures:
    from random import Random

    from allears.decoding import PAL_ALPHAS, decoding
    from allears.evaluation.generation import evaluate_generation, reply_spread
    from allears.metrics.bleu import sacrebleu_metrics
    from allears.models.generation.examples import read_examples
    from allears.models.generation.loading import load_generator
    from allears.models.reader.sentence_loading import load_sentence_encoder
    from allears.models.reader.sentiment import VaderSentiment
    from allears.runtime.bundle import default_bundle

    sacrebleu_metrics()
    place, split = lab.corpora.place(asked.option("corpus")), asked.option("split", "valid")
    examples = [each for each in read_examples(place, split, lab.corpora.root) if each.answers]
    if not examples:
        raise AllearsError(f"in the {split} split of {asked.option('corpus')} nobody answers another person")
    limit = lab.setting.limit
    if limit and limit < len(examples):
        examples = [examples[place] for place in sorted(Random(0).sample(range(len(examples)), limit))]
    alpha = asked.option("alpha")
    generator = load_generator(place_of(lab, asked.of), device_for(lab, asked.of))
    settings = decoding(asked.option("decoding", "sample"))
    report = evaluate_generation(
        generator,
        examples,
        settings=settings,
        alphas=None if alpha is None else PAL_ALPHAS.all(float(alpha)),
        embed=load_sentence_encoder(default_bundle()).vectors if asked.option("persona_similarity") else None,
        sentiment=VaderSentiment().compound,
    )
    found: Measures = dict(report.measures)
    found |= _top_strategies(generator, examples)
    if seeds := asked.option("seeds"):
        found |= reply_spread(generator, examples, settings=settings, seeds=range(seeds))
    return found


def _top_strategies(generator: Any, examples: Sequence[Any]) -> Measures:
    """PAL's Figure 4, of a generator that chooses strategies, where the corpus has them."""
    from dataclasses import replace

    from allears.metrics.strategies import strategy_top_n
    from allears.runtime.generator import STRATEGIES, ChoosesStrategy

    gold = [example.prompt.strategy or "" for example in examples]
    if not all(gold) or not isinstance(generator, ChoosesStrategy):
        return {}
    ranked = generator.strategies([replace(example.prompt, strategy=None) for example in examples])
    names = [[name for name, _ in each] for each in ranked]
    return {f"strategy_top_{n}": strategy_top_n(names, gold, n) for n in range(1, len(STRATEGIES) + 1)}


def replies(lab: Lab, asked: Measurement) -> Measures:
    """What a generator writes for contexts of our own."""
    from allears.decoding import decoding
    from allears.models.generation.loading import load_generator
    from allears.runtime.generator import Prompt

    generator = load_generator(place_of(lab, asked.of), device_for(lab, asked.of))
    prompts = [Prompt((Turn(Role.SEEKER, text),)) for text in asked.option("contexts")]
    written = generator.generate(
        prompts, decoding(asked.option("decoding", "beam-5")), list(range(len(prompts)))
    )
    return {
        text: each[0].text or "(nothing)"
        for text, each in zip(asked.option("contexts"), written, strict=True)
    }


def emotion_map(lab: Lab, asked: Measurement) -> Measures:
    from allears.evaluation.analyses.emotion_map import emotion_map
    from allears.evaluation.emotion_vectors import emotion_vectors
    from allears.labels import ED_EMOTIONS
    from allears.models.generation.loading import load_generator

    found = emotion_map(emotion_vectors(load_generator(place_of(lab, asked.of), device_for(lab, asked.of))))
    measures: Measures = {
        "explained": found.explained,
        "neighbours": found.neighbours,
        "neighbours_in_plane": found.neighbours_in_plane,
    }
    for emotion, (first, second) in zip(ED_EMOTIONS, found.points, strict=True):
        measures |= {f"{emotion} first": float(first), f"{emotion} second": float(second)}
    return measures
