"""How good a generator is: what it would have said, against what people said. Sees it only through its protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from allears.conversation import Role, Turn
from allears.generation.contract import ChoosesStrategy, Generated, Generator
from allears.generation.decoding import PAL_SETTINGS, AlphaTable, Settings
from allears.generation.examples import GenerationExample
from allears.metrics.generation import Embed, Sentiment, generation_measures
from allears.metrics.perplexity import ppl, ppl_word
from allears.understanding.annotate import mechanism_head
from allears.understanding.heads import head
from allears.understanding.labels import MECHANISMS
from allears.understanding.loading import ReadingModel
from allears.understanding.reading import Reading

Watch = Callable[[Sequence[Any], str], Iterable[Any]]
"""Hands out the items again, showing progress: `allears.cli.progress.watched`."""

AT_ONCE = 64  # prompts between two looks at the progress bar


def unwatched(items: Sequence[Any], what: str) -> Iterable[Any]:
    return items


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
    watch: Watch = unwatched,
) -> GenerationReport:
    """The generator chooses its strategies itself; perplexity is that of the people's words after their strategy.

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
    losses, tokens, measured = [], [], []
    for start in watch(starts, "measuring"):
        asked = examples[start : start + AT_ONCE]
        found = generator.log_likelihood([each.prompt for each in asked], [each.response for each in asked])
        for example, likelihood in zip(asked, found, strict=True):
            if not likelihood.cut:
                losses.append(-likelihood.log_probability)
                tokens.append(likelihood.tokens)
                measured.append(example.response)
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
    if measured:
        measures |= {"ppl": ppl(losses, tokens), "ppl_word": ppl_word(losses, measured)}
    if reader is not None:
        measures |= _mechanisms(reader, examples, replies)
    measures["ppl_examples"] = float(len(measured))
    return GenerationReport(measures, tuple(replies))


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
