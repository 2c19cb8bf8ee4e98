"""How a generator that writes strategies as tokens answers, whatever runs it: torch or ONNX. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from allears.decoding import (
    Array,
    Processor,
    Reorder,
    Settings,
    State,
    Step,
    Written,
    begin_with,
    never,
    take_rows,
    write,
)
from allears.decoding.arrays import integers
from allears.runtime.consensus import draws_for, most_agreed
from allears.runtime.generator import STRATEGIES, Generated, Prompt
from allears.runtime.spelling import written_text
from allears.text.tokenizer import WordPiece, WordVocabulary


@dataclass(frozen=True)
class Vocabulary:
    """What a generator's tokens are: words of its tokenizer, and behind them the strategies."""

    tokenizer: Any
    first_strategy: int

    @cached_property
    def strategies(self) -> dict[str, int]:
        return {name: self.first_strategy + place for place, name in enumerate(STRATEGIES)}

    @cached_property
    def unwritable(self) -> list[int]:
        return marks_of(self.tokenizer)

    def generated(self, prompt: Prompt, written: Written, *, longest: int) -> Generated:
        strategy, words = prompt.strategy or "", []
        for token in written.tokens:
            place = token - self.first_strategy
            if not 0 <= place < len(STRATEGIES):
                words.append(token)
            elif not strategy:
                strategy = STRATEGIES[place]
        return Generated(self.text(words, prompt), strategy, written.score, len(words) >= longest)

    def text(self, words: Sequence[int], prompt: Prompt) -> str:
        if isinstance(self.tokenizer, WordPiece):
            source = " ".join([*(turn.text for turn in prompt.turns), *prompt.persona])
            return written_text(self.tokenizer, words, source)
        return str(self.tokenizer.text(words))


def write_replies(
    prompts: Sequence[Prompt],
    step: Step,
    state: State,
    start: Array,
    *,
    vocabulary: Vocabulary,
    settings: Settings,
    longest: int,
    strategy_first: bool,
    seeds: Sequence[int],
    count: int = 1,
    reorder: Reorder = take_rows,
) -> list[list[Generated]]:
    """`count` replies for each prompt, a row of `start` [B] each. Either all of them prescribe a strategy, or none."""
    strategies = list(vocabulary.strategies.values())
    processors: list[Processor] = []
    limit, own = min(settings.longest, longest), 0
    if prompts[0].strategy is not None:
        _, state = step(start, state)
        start = integers((vocabulary.strategies[str(each.strategy)] for each in prompts), start)
        processors.append(never([*vocabulary.unwritable, *strategies]))
    else:
        processors.append(never(vocabulary.unwritable))
        if strategy_first:
            own = 1  # the strategy is one more token to write
            processors.append(begin_with(strategies))
    settings = replace(settings, longest=limit + own, shortest=min(settings.shortest, limit) + own)
    found = write(
        settings,
        step,
        state,
        start,
        end=vocabulary.tokenizer.end,
        count=draws_for(settings, count),
        seed=list(seeds),
        processors=processors,
        reorder=reorder,
    )
    return [
        most_agreed([vocabulary.generated(prompt, written, longest=limit) for written in texts], count)
        for prompt, texts in zip(prompts, found, strict=True)
    ]


def marks_of(tokenizer: Any) -> list[int]:
    """Tokens that are marks, not words, and so never written; an end is."""
    if isinstance(tokenizer, WordPiece):
        unknown = tokenizer.backend.token_to_id("[UNK]")
    elif isinstance(tokenizer, WordVocabulary):
        unknown = tokenizer.unknown
    else:  # a pretrained model's
        unknown = getattr(tokenizer.backend, "unk_token_id", None)
    return sorted(int(mark) for mark in {tokenizer.pad, tokenizer.start, unknown} - {None, tokenizer.end})


def ranked_strategies(shares: Sequence[float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(zip(STRATEGIES, shares, strict=True), key=lambda pair: -pair[1]))
