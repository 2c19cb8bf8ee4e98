"""How good a generator is: what it would have said, against what people said. Sees it only through its protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from allears.conversation import Role, Turn
from allears.corpora.heads import head
from allears.decoding import PAL_SETTINGS, AlphaTable, Settings
from allears.evaluation.annotate import mechanism_head
from allears.labels import ED_GROUP_OF, MECHANISMS, POLARITIES, POLARITY_OF
from allears.metrics.bleu import bleu
from allears.metrics.diversity import distinct_n
from allears.metrics.generation import Embed, Sentiment, generation_measures
from allears.metrics.perplexity import ppl, ppl_word
from allears.models.generation.examples import GenerationExample
from allears.models.reader.loading import ReadingModel
from allears.progress import Watch, unwatched
from allears.runtime.generator import ChoosesStrategy, Generated, Generator, Likelihood, NamesEmotion, Prompt
from allears.text.reading import Reading

# Also told by positive and negative emotions.
BY_POLARITY = (
    "ppl", "ppl_word", "bleu_4", "avg_bleu", "moses_bleu", "meteor", "distinct_1", "distinct_2", "sentiment_gain",
    "emotion_accuracy", "examples",
)  # fmt: skip
EMOTION_TOPS = (1, 2, 5)
AT_ONCE = 64  # prompts between two looks at the progress bar


@dataclass(frozen=True, slots=True)
class GenerationReport:
    """The measures by name, and what was written for each example."""

    measures: dict[str, float]
    replies: tuple[Generated, ...]


def evaluate_generation(
    generator: Generator,
    examples: Sequence[GenerationExample],
    *,
    settings: Settings = PAL_SETTINGS,
    alphas: AlphaTable | None = None,
    seed: int = 0,
    embed: Embed | None = None,
    sentiment: Sentiment | None = None,
    reader: ReadingModel | None = None,
    by_polarity: bool = True,
    watch: Watch = unwatched,
) -> GenerationReport:
    """The generator chooses its strategies itself; perplexity is that of the people's words after their strategy.

    Where the examples have one of 32 emotions: how often the generator names it (if it does), and with `by_polarity`
    every measure of `BY_POLARITY` also for the positive and for the negative ones alone (MIME, Table 1).

    With a `reader`, how much the replies show of EPITOME's three mechanisms of empathy: mean levels from 0 to 2.

    A response that is longer than the model can write has no perplexity: `ppl_examples` counts the others.
    """
    prompts = [replace(example.prompt, strategy=None) for example in examples]
    gold = [example.response for example in examples]
    replies: list[Generated] = []
    starts = list(range(0, len(examples), AT_ONCE))
    for start in watch(starts, "writing"):
        part = prompts[start : start + AT_ONCE]
        # by place in the whole: what is written for an example does not depend on AT_ONCE
        seeds = [seed * 1_000_003 + start + number for number in range(len(part))]
        replies += (texts[0] for texts in generator.generate(part, settings, seeds, alphas=alphas))
    likely: list[Likelihood] = []
    for start in watch(starts, "measuring"):
        asked = examples[start : start + AT_ONCE]
        likely += generator.log_likelihood([each.prompt for each in asked], [each.response for each in asked])
    ranked, gold_strategies = None, [example.prompt.strategy or "" for example in examples]
    if all(gold_strategies) and isinstance(generator, ChoosesStrategy):
        ranked = [[name for name, _ in each] for each in generator.strategies(prompts)]
    measures = generation_measures(
        [reply.text for reply in replies],
        gold,
        strategies=ranked,
        gold_strategies=gold_strategies if ranked else None,
        personas=[prompt.persona for prompt in prompts],
        embed=embed,
        sources=[_said_last(example) for example in examples] if sentiment is not None else None,
        sentiment=sentiment,
    )
    measures |= _perplexities(likely, gold)
    if reader is not None:
        measures |= _mechanisms(reader, examples, replies)
    emotions = [example.labels.emotion for example in examples]
    named = None
    if any(emotions) and isinstance(generator, NamesEmotion):
        named = _named_emotions(generator, prompts)
        measures |= _emotion_measures(named, emotions, generator.emotion_labels)
    if by_polarity:
        for polarity in POLARITIES:
            rows = [row for row, name in enumerate(emotions) if name and POLARITY_OF[name] == polarity]
            if not rows:
                continue
            found = generation_measures(
                [replies[row].text for row in rows],
                [gold[row] for row in rows],
                sources=[_said_last(examples[row]) for row in rows] if sentiment is not None else None,
                sentiment=sentiment,
            )
            found |= _perplexities([likely[row] for row in rows], [gold[row] for row in rows])
            if named is not None and isinstance(generator, NamesEmotion):
                own = [named[row] for row in rows]
                found |= _emotion_measures(own, [emotions[row] for row in rows], generator.emotion_labels)
            measures |= {f"{name}_{polarity}": found[name] for name in BY_POLARITY if name in found}
    return GenerationReport(measures, tuple(replies))


def reply_spread(
    generator: Generator,
    examples: Sequence[GenerationExample],
    *,
    settings: Settings,
    seeds: Sequence[int],
    watch: Watch = unwatched,
) -> dict[str, float]:
    """How differently a generator answers the same prompt with other seeds, and whether it is as good with each.

    `spread_different`: the share of pairs of replies to one prompt that are not the same text; `spread_bleu_2`: BLEU-2
    of such pairs, the lower the more varied; `spread_distinct_2`: Distinct-2 of all replies together;
    `spread_moses_bleu` and its standard deviation (`..._std`): against what people said.
    """
    if len(seeds) < 2:
        raise ValueError(f"a spread needs at least 2 seeds, got {len(seeds)}")
    prompts = [replace(example.prompt, strategy=None) for example in examples]
    gold = [example.response for example in examples]
    texts: list[list[str]] = []
    for seed in watch(list(seeds), "other seeds"):
        own: list[str] = []
        for start in range(0, len(prompts), AT_ONCE):
            part = prompts[start : start + AT_ONCE]
            chances = [seed * 1_000_003 + start + number for number in range(len(part))]
            own += (replies[0].text for replies in generator.generate(part, settings, chances))
        texts.append(own)
    pairs = [(mine, other) for place, mine in enumerate(texts) for other in texts[place + 1 :]]
    different = [float(np.mean([a != b for a, b in zip(mine, other, strict=True)])) for mine, other in pairs]
    quality = [generation_measures(own, gold)["moses_bleu"] for own in texts]
    return {
        "spread_different": 100 * float(np.mean(different)),
        "spread_bleu_2": float(np.mean([bleu(mine, other, 2) for mine, other in pairs])),
        "spread_distinct_2": distinct_n([text for own in texts for text in own], 2),
        "spread_moses_bleu": float(np.mean(quality)),
        "spread_moses_bleu_std": float(np.std(quality, ddof=1)),
        "spread_seeds": float(len(seeds)),
    }


def _perplexities(likely: Sequence[Likelihood], gold: Sequence[str]) -> dict[str, float]:
    """Of those responses that are not longer than the model can write."""
    whole = [(each, text) for each, text in zip(likely, gold, strict=True) if not each.cut]
    found = {"ppl_examples": float(len(whole))}
    if whole:
        losses = [-each.log_probability for each, _ in whole]
        found["ppl"] = ppl(losses, [each.tokens for each, _ in whole])
        found["ppl_word"] = ppl_word(losses, [text for _, text in whole])
    return found


def _named_emotions(generator: NamesEmotion, prompts: Sequence[Prompt]) -> list[list[str]]:
    """Each prompt's emotions, likeliest first; empty for a generator that has not learned any."""
    ranked: list[list[str]] = []
    for start in range(0, len(prompts), AT_ONCE):
        found = generator.emotions(prompts[start : start + AT_ONCE])
        ranked += [[name for name, _ in each] for each in found]
    return ranked


def _emotion_measures(
    ranked: Sequence[Sequence[str]], gold: Sequence[str | None], labels: Sequence[str]
) -> dict[str, float]:
    """Percentages, over the examples that have an emotion; nothing where the generator names none."""
    asked = [(names, emotion) for names, emotion in zip(ranked, gold, strict=True) if names and emotion]
    if not asked:
        return {}
    found = {}
    for top in EMOTION_TOPS:
        right = [
            (emotion if emotion in labels else ED_GROUP_OF[emotion]) in names[:top]
            for names, emotion in asked
        ]
        found["emotion_accuracy" if top == 1 else f"emotion_top_{top}"] = 100 * float(np.mean(right))
    return found


def _mechanisms(
    reader: ReadingModel, examples: Sequence[GenerationExample], replies: Sequence[Generated]
) -> dict[str, float]:
    readings = [
        Reading((Turn(Role.SEEKER, _said_last(example)), Turn(Role.SUPPORTER, reply.text)))
        for example, reply in zip(examples, replies, strict=True)
    ]
    return {
        name: float(reader.probabilities(head(mechanism_head(name)), readings).argmax(axis=1).mean())
        for name in MECHANISMS
    }


def _said_last(example: GenerationExample) -> str:
    """The seeker's latest words."""
    said = [turn.text for turn in example.prompt.turns if turn.speaker is Role.SEEKER]
    return said[-1] if said else ""
