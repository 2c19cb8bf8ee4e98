"""A generator whose strategies a reader chooses: the bundle's, as the listener has it.

A small decoder's first token is a poor judge of what to do next; the reader's strategy head also knows how far the
conversation is and what was done in it (`understanding/conversation_facts.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from allears.conversation import Turn
from allears.generation.contract import Generated, Generator, Likelihood, Prompt, Seed, settings_of
from allears.generation.decoding import PAL_SETTINGS, AlphaTable, Settings
from allears.generation.replies import ranked_strategies
from allears.understanding.heads import head, strategy_reading
from allears.understanding.loading import ReadingModel

STRATEGY = head("strategy")
MOST_KNOWN = 4096  # conversations whose strategies are kept: who measures asks for them twice
Ranked = tuple[tuple[str, float], ...]


class ReaderChooses:
    def __init__(self, generator: Generator, reader: ReadingModel, settings: Settings | None = None):
        self.generator, self.reader = generator, reader
        self.own_settings = settings or settings_of(generator)
        self._known: dict[tuple[Turn, ...], Ranked] = {}

    def strategies(self, prompts: Sequence[Prompt]) -> list[Ranked]:
        """For each prompt all strategies with their probabilities, likeliest first, whatever the prompt prescribes."""
        known = self._known
        new = [turns for turns in dict.fromkeys(prompt.turns for prompt in prompts) if turns not in known]
        if new:
            likely = self.reader.probabilities(STRATEGY, [strategy_reading(turns) for turns in new])
            known = known | dict(zip(new, map(ranked_strategies, likely.tolist()), strict=True))
            self._known = dict(list(known.items())[-MOST_KNOWN:])
        return [known[prompt.turns] for prompt in prompts]

    def generate(
        self,
        prompts: Sequence[Prompt],
        settings: Settings = PAL_SETTINGS,
        seed: Seed = 0,
        *,
        count: int = 1,
        alphas: AlphaTable | None = None,
    ) -> list[list[Generated]]:
        """With the strategy that a prompt prescribes, or with the reader's."""
        open_ones = [place for place, prompt in enumerate(prompts) if prompt.strategy is None]
        chosen = list(prompts)
        for place, ranked in zip(
            open_ones, self.strategies([prompts[each] for each in open_ones]), strict=True
        ):
            chosen[place] = replace(prompts[place], strategy=ranked[0][0])
        return self.generator.generate(chosen, settings, seed, count=count, alphas=alphas)

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        return self.generator.log_likelihood(prompts, responses)
