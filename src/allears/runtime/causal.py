"""PAL's ideas on a decoder-only language model: persona and history in the prompt, the strategy written first.

P(r | d, p):  chat with d, what is known of the person, "assistant:", strategy, response
P(r | d):     the same chat without what is known
logits = (1 + alpha) with - alpha without, alpha by the strategy just written           (PAL, equation 6)

The generator here knows no array library: a `Runtime` does the arithmetic, torch (`causal_model.py`) or ONNX
(`causal_onnx.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from allears.decoding import PAL_ALPHAS, PAL_SETTINGS, AlphaTable, Array, Settings, State, TwoBranches
from allears.decoding.arrays import host
from allears.errors import AllearsError
from allears.runtime.chat_layout import ChatFrames, ChatLayout, ChatRow
from allears.runtime.generator import STRATEGIES, Generated, Likelihood, Prompt, Seed
from allears.runtime.replies import Vocabulary, by_prescription, ranked_strategies, write_replies
from allears.runtime.runs import MODEL_FILE, saved_card
from allears.runtime.seeds import prompt_seeds
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


class CausalGenerator:
    def __init__(self, runtime: Runtime, card: CausalCard, layout: ChatLayout, *, batch: int = BATCH):
        self.runtime, self.card, self.layout, self.batch = runtime, card, layout, batch
        self.vocabulary = ChatVocabulary(layout.tokenizer, layout.first_strategy, tuple(layout.unwritable))
        self.has_branches = True  # equation 6 works: a prompt with what is known, and one without

    def generate(
        self,
        prompts: Sequence[Prompt],
        settings: Settings = PAL_SETTINGS,
        seed: Seed = 0,
        *,
        count: int = 1,
        alphas: AlphaTable | None = None,
    ) -> list[list[Generated]]:
        seeds = prompt_seeds(seed, len(prompts))
        found: list[list[Generated]] = [[] for _ in prompts]
        for places in by_prescription(prompts):
            for part, rows in self._parts([prompts[place] for place in places]):
                own = [places[place] for place in part]
                texts = self._write(
                    [prompts[place] for place in own],
                    rows,
                    settings,
                    [seeds[place] for place in own],
                    count,
                    alphas or PAL_ALPHAS,
                )
                for place, each in zip(own, texts, strict=True):
                    found[place] = each
        return found

    def _write(
        self,
        prompts: Sequence[Prompt],
        rows: Sequence[ChatRow],
        settings: Settings,
        seeds: Sequence[int],
        count: int,
        alphas: AlphaTable,
    ) -> list[list[Generated]]:
        runtime = self.runtime
        step, reorder = runtime.step, runtime.reorder
        start = runtime.tokens([row.tail[-1] for row in rows])
        heads = [row.head for row in rows]
        tails = [[[*row.persona, *row.tail[:-1]]] for row in rows]
        state: Any
        if any(alphas.by_strategy.values()) and any(row.persona for row in rows):
            for own, row in zip(tails, rows, strict=True):
                own.append(row.tail[:-1])
            branches = TwoBranches(step, alphas.by_token(self.vocabulary.strategies), reorder=reorder)
            step, reorder = branches.step, branches.reorder
            state = branches.begin(runtime.begin(heads, tails), start)
        else:
            state = runtime.begin(heads, tails)
        return write_replies(
            prompts,
            step,
            state,
            start,
            vocabulary=self.vocabulary,
            settings=settings,
            longest=self.card.limits.response_tokens,
            strategy_first=self.card.strategy_first,
            seeds=seeds,
            count=count,
            reorder=reorder,
        )

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        found: list[Likelihood] = [Likelihood(0.0, 0)] * len(prompts)
        targets = self.layout.targets(prompts, responses)
        for part, rows in self._parts(prompts):
            own = [targets[place] for place in part]
            for place, target, likely in zip(
                part, own, self.runtime.likelihood([row.whole for row in rows], own), strict=True
            ):
                given = int(prompts[place].strategy is not None)  # the strategy is no part of the response
                cut = target[-1] != self.layout.tokenizer.end
                found[place] = Likelihood(sum(likely[given:]), len(target) - given, cut)
        return found

    def strategies(self, prompts: Sequence[Prompt]) -> list[tuple[tuple[str, float], ...]]:
        found: list[tuple[tuple[str, float], ...]] = [()] * len(prompts)
        first = self.layout.first_strategy
        for part, rows in self._parts([replace(prompt, strategy=None) for prompt in prompts]):
            state = self.runtime.begin(
                [row.head for row in rows], [[[*row.persona, *row.tail[:-1]]] for row in rows]
            )
            logits, _ = self.runtime.step(self.runtime.tokens([row.tail[-1] for row in rows]), state)
            own = host(logits[:, first : first + len(STRATEGIES)]).astype(np.float64)
            shares = np.exp(own - own.max(1, keepdims=True))
            for place, each in zip(part, (shares / shares.sum(1, keepdims=True)).tolist(), strict=True):
                found[place] = ranked_strategies(each)
        return found

    def _parts(self, prompts: Sequence[Prompt]) -> Iterator[tuple[list[int], list[ChatRow]]]:
        """Places and their rows, in batches of about the same length."""
        rows = self.layout.rows(prompts)
        order = sorted(range(len(rows)), key=lambda place: len(rows[place].head) + len(rows[place].persona))
        for start in range(0, len(order), self.batch):
            part = order[start : start + self.batch]
            yield part, [rows[place] for place in part]
