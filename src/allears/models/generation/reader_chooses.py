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
from allears.decoding import Settings
from allears.models.reader.loading import ReadingModel
from allears.runtime.consensus import draws_for, most_agreed
from allears.runtime.generating import SeededGenerator, WritingRequest
from allears.runtime.generator import Generated, Generator, Likelihood, Prompt, settings_of
from allears.runtime.replies import ranked_strategies
from allears.runtime.selector import Query, Selector

STRATEGY = head("strategy")
MOST_KNOWN = 4096  # conversations whose strategies are kept: who measures asks for them twice
Ranked = tuple[tuple[str, float], ...]


class ReaderChooses(SeededGenerator):
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

    def _write(self, request: WritingRequest) -> list[list[Generated]]:
        """With the strategy that a prompt prescribes, or with the reader's."""
        free = [row for row, prompt in enumerate(request.prompts) if prompt.strategy is None]
        ranked = self.strategies([request.prompts[row] for row in free])
        prompts = list(request.prompts)
        for row, strategies in zip(free, ranked, strict=True):
            prompts[row] = replace(prompts[row], strategy=strategies[0][0])
        settings, count = request.settings, request.count
        draws = draws_for(settings, count)
        if self.ranker is None or draws == count:
            return self.generator.generate(
                prompts, settings, request.seeds, count=count, alphas=request.alphas
            )
        alone, replies = replace(settings, consensus=0), []
        for prompt, seed in zip(
            prompts, request.seeds, strict=True
        ):  # so many draws of several need much memory
            (drawn,) = self.generator.generate([prompt], alone, [seed], count=draws, alphas=request.alphas)
            states = self._opened.encode_responses([reply.text for reply in drawn])
            query = Query(prompt.turns, prompt.persona)
            scores = self._opened.score([query], states, np.arange(draws)[None])[0]
            replies.append(most_agreed(drawn, count, scores))
        return replies

    @cached_property
    def _opened(self) -> Selector:
        assert self.ranker is not None  # nobody asks otherwise
        return self.ranker()

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        return self.generator.log_likelihood(prompts, responses)
