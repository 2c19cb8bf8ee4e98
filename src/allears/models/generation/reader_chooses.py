"""A generator whose strategies a reader chooses, and whose best draw a ranker: the bundle's, as the listener has them.

A small decoder's first token is a poor judge of what to do next; the reader's strategy head also knows how far the
conversation is and what was done in it (`text/conversation_facts.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from allears.conversation import Turn
from allears.corpora.heads import head, strategy_reading
from allears.decoding import PAL_SETTINGS, AlphaTable, Settings
from allears.models.reader.loading import ReadingModel
from allears.runtime.consensus import draws_for, most_agreed
from allears.runtime.generator import Generated, Generator, Likelihood, Prompt, Seed, settings_of
from allears.runtime.replies import ranked_strategies
from allears.runtime.seeds import prompt_seeds
from allears.runtime.selector import Query, Selector

STRATEGY = head("strategy")
MOST_KNOWN = 4096  # conversations whose strategies are kept: who measures asks for them twice
Ranked = tuple[tuple[str, float], ...]


class ReaderChooses:
    """`ranker` opens the bundle's, when a consensus of draws is asked for; None: the draws alone decide."""

    def __init__(
        self,
        generator: Generator,
        reader: ReadingModel,
        settings: Settings | None = None,
        ranker: Callable[[], Selector] | None = None,
    ):
        self.generator, self.reader, self.ranker = generator, reader, ranker
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
        if self.ranker is None or draws_for(settings, count) == count:
            return self.generator.generate(chosen, settings, seed, count=count, alphas=alphas)
        return [
            self._agreed(prompt, settings, own, count, alphas)
            for prompt, own in zip(chosen, prompt_seeds(seed, len(chosen)), strict=True)
        ]

    def _agreed(
        self, prompt: Prompt, settings: Settings, seed: int, count: int, alphas: AlphaTable | None
    ) -> list[Generated]:
        """One prompt at a time: so many draws of several need much memory."""
        draws, alone = draws_for(settings, count), replace(settings, consensus=0)
        (drawn,) = self.generator.generate([prompt], alone, [seed], count=draws, alphas=alphas)
        states = self._opened.encode_responses([each.text for each in drawn])
        query = Query(prompt.turns, prompt.persona)
        scores = self._opened.score([query], states, np.arange(draws)[None])[0]
        return most_agreed(drawn, count, scores)

    @cached_property
    def _opened(self) -> Selector:
        assert self.ranker is not None  # nobody asks otherwise
        return self.ranker()

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        return self.generator.log_likelihood(prompts, responses)
