"""PAL's ideas on a decoder-only language model: persona and history in the prompt, the strategy written first.

P(r | d, p):  chat with d, what is known of the person, "assistant:", strategy, response
P(r | d):     the same chat without what is known
logits = (1 + alpha) with - alpha without, alpha by the strategy just written           (PAL, equation 6)

The generator here knows no array library: a `Runtime` does the arithmetic, torch (`causal_model.py`) or ONNX
(`causal_onnx.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from allears.decoding import Array, State
from allears.decoding.arrays import host
from allears.errors import AllearsError
from allears.runtime.chat_layout import ChatFrames, ChatLayout, ChatRow
from allears.runtime.generating import StrategyGenerator, WritingRequest, in_order
from allears.runtime.generator import STRATEGIES, Generated, Likelihood, Prompt
from allears.runtime.replies import Vocabulary
from allears.runtime.runs import MODEL_FILE, saved_card
from allears.text.layout import Limits

BATCH = 64
KIND = "language-model"
WEIGHTS_FILE = "model.safetensors"  # of an adapter


@dataclass(frozen=True, slots=True)
class CausalCard:
    """Everything needed to put the adapter on its base again, and how prompts are laid out."""

    base: str
    limits: Limits
    frames: ChatFrames
    words: int  # of the base's vocabulary
    end: int  # the token that closes a reply
    adapter: Mapping[str, Any] = field(default_factory=dict)  # rank, alpha, dropout
    context_turns: int = 10
    strategy_first: bool = True
    kind: str = KIND


def read_card(folder: Path) -> CausalCard:
    """The card in an adapter's folder."""
    path = folder / MODEL_FILE
    try:
        saved = saved_card(
            folder, KIND, "adapter of a language model; train one with recipes/esconv-smollm2.toml"
        )
        parts = {"limits": Limits(**saved["limits"]), "frames": ChatFrames(**saved["frames"])}
        return CausalCard(**(saved | parts))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise AllearsError(f"{path}: not the card of a language model's adapter ({error})") from error


class Runtime(Protocol):
    """A language model's arithmetic, in any array library."""

    def tokens(self, ids: Sequence[int]) -> Array:
        """[B]."""
        ...

    def begin(self, heads: Sequence[Sequence[int]], tails: Sequence[Sequence[Sequence[int]]]) -> State:
        """What is kept of each head with each of its tails, one row after another."""
        ...

    def step(self, tokens: Array, state: State) -> tuple[Array, State]:
        """Logits [B, words and strategies] after one more token [B]."""
        ...

    def reorder(self, state: State, rows: Sequence[int]) -> State: ...

    def likelihood(
        self, prompts: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """log P of every target's tokens, each after its prompt and the tokens before it."""
        ...


@dataclass(frozen=True)
class ChatVocabulary(Vocabulary):
    unwritable_tokens: tuple[int, ...] = ()

    @cached_property
    def unwritable(self) -> list[int]:
        return list(self.unwritable_tokens)


class CausalGenerator(StrategyGenerator[list[ChatRow]]):
    name = "language model"

    def __init__(self, runtime: Runtime, card: CausalCard, layout: ChatLayout, *, batch: int = BATCH):
        self.runtime, self.card, self.layout, self.batch = runtime, card, layout, batch
        self.vocabulary = ChatVocabulary(layout.tokenizer, layout.first_strategy, tuple(layout.unwritable))

    @property
    def has_branches(self) -> bool:
        return True  # a prompt with what is known, and one without

    def _write_batch(self, request: WritingRequest, data: list[ChatRow]) -> list[list[Generated]]:
        both = request.leans and any(row.persona for row in data)
        state, start = self._begin(data, without=both)
        return self._replies(
            request, self.runtime.step, state, start, self.runtime.reorder, two_branches=both
        )

    def _begin(self, rows: Sequence[ChatRow], *, without: bool = False) -> tuple[State, Array]:
        """The state after all but the last token of each row, and those; also `without` persona, row by row."""
        tails = [[[*row.persona, *row.tail[:-1]], *([row.tail[:-1]] if without else [])] for row in rows]
        state = self.runtime.begin([row.head for row in rows], tails)
        return state, self.runtime.tokens([row.tail[-1] for row in rows])

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        targets = self.layout.targets(prompts, responses)

        def measured(part: list[int], rows: list[ChatRow]) -> list[Likelihood]:
            own = [targets[place] for place in part]
            likely = self.runtime.likelihood([row.whole for row in rows], own)
            return [
                self._likelihood(prompts[place], target, each)
                for place, target, each in zip(part, own, likely, strict=True)
            ]

        return in_order(len(prompts), ((part, measured(part, rows)) for part, rows in self._cut(prompts)))

    def _likelihood(self, prompt: Prompt, target: Sequence[int], likely: Sequence[float]) -> Likelihood:
        given = int(prompt.strategy is not None)  # the strategy is no part of the response
        cut = target[-1] != self.layout.tokenizer.end
        return Likelihood(sum(likely[given:]), len(target) - given, cut)

    def _strategy_shares(self, data: list[ChatRow]) -> list[list[float]]:
        state, start = self._begin(data)
        logits, _ = self.runtime.step(start, state)
        first = self.layout.first_strategy
        own = host(logits[:, first : first + len(STRATEGIES)]).astype(np.float64)
        shares = np.exp(own - own.max(1, keepdims=True))
        ranked: list[list[float]] = (shares / shares.sum(1, keepdims=True)).tolist()
        return ranked

    def _cut(self, prompts: Sequence[Prompt]) -> Iterator[tuple[list[int], list[ChatRow]]]:
        rows = self.layout.rows(prompts)
        order = sorted(range(len(rows)), key=lambda place: len(rows[place].head) + len(rows[place].persona))
        for start in range(0, len(order), self.batch):
            part = order[start : start + self.batch]
            yield part, [rows[place] for place in part]
