"""The training task of language models: the same conversations as `task.py`, laid out as chats, adapters learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.models.generation import causal_model
from allears.models.generation.causal_dataset import CausalDataset
from allears.models.generation.causal_model import LoadedCausal, TorchRuntime
from allears.models.generation.examples import GenerationExample
from allears.runtime.causal import CausalGenerator
from allears.runtime.generator import STRATEGIES
from allears.text.layout import Limits
from allears.training.generation.base import (
    EVALUATION_BATCH,
    GenerationDataOptions,
    GenerationLossOptions,
    LikelihoodSums,
    ReplyTask,
    check_options,
)
from allears.training.generation.rewarded import Rewarded
from allears.training.generation.rewards import RewardOptions
from allears.training.loop import Backward
from allears.training.recipe import Recipe, sample
from allears.training.workers import Workers

REWARDED_SAMPLE = 400  # valid examples that are drawn for at each evaluation, where draws are rewarded


@dataclass(frozen=True, slots=True, kw_only=True)
class CausalOptions:
    """`pretrained`: `smollm2`, a hub name, a folder or a .gguf file. `start`: a run whose adapter goes on, instead."""

    name: str = "causal"
    pretrained: str = ""
    start: str = ""
    rank: int = 16  # of the adapters
    alpha: int = 32  # what they count: alpha / rank
    dropout: float = 0.05  # of what adapters read
    context_turns: int = 10
    strategy_first: bool = True  # every reply begins with its strategy; false: only where the data say so


class CausalTask(ReplyTask[CausalDataset]):
    def __init__(self, recipe: Recipe, folder: Path):
        super().__init__(recipe, "reward")
        self.data = recipe.table(GenerationDataOptions, "data")
        self.loss = recipe.table(GenerationLossOptions, "loss")
        self.reward = recipe.table(RewardOptions, "reward")
        wanted = recipe.table(CausalOptions, "model")
        check_options(self.data, self.loss.label_smoothing)
        torch.manual_seed(self.options.seed)
        loaded = _model(wanted, self.limits)
        self.causal, self.card, self.layout = loaded.model, loaded.card, loaded.layout
        self.model: nn.Module = loaded.model
        self.rewarded = Rewarded(
            loaded.model, loaded.layout, self.reward, strategy_first=loaded.card.strategy_first
        )
        self._lay_out(*self._read())

    def _dataset(
        self, examples: list[GenerationExample], groups: Sequence[int] | None = None
    ) -> CausalDataset:
        return CausalDataset(examples, self.layout, groups)

    def step(self, batch: list[int], epoch: int, workers: Workers, backward: Backward) -> Tensor:
        """Equation 5 over the tokens of the batch; what the persona would change is not shown to some of it. With
        rewards, what drawn replies earn (`rewarded.py`), and some of equation 5 beside it."""
        own = workers.share(batch)
        hidden = torch.rand(len(own)) < self.data.persona_dropout  # by the loop's seed for this step
        total = torch.zeros((), device=workers.device)
        if self.reward.draws:
            self.model.eval()  # what learns is what has drawn: no dropout
            total += self.rewarded.step(self.train, own, hidden.tolist(), workers.device, backward)
        weight = self.reward.likelihood if self.reward.draws else 1.0
        if weight:
            loss = weight * self._gold_loss(own, hidden.tolist(), workers.device)
            backward(loss)
            total += loss.detach()
        return total

    def _gold_loss(self, own: list[int], hidden: list[bool], device: torch.device) -> Tensor:
        ids, rows, places, targets = self.train.batch(own, hidden).to(device)
        logits = self.causal.likelihood(ids, rows, places)
        losses = F.cross_entropy(logits, targets, reduction="none", label_smoothing=self.loss.label_smoothing)
        weights = torch.where(targets >= self.causal.words, self.loss.strategy, 1.0)
        return (losses * weights).sum() / weights.sum()

    def _generator(self, device: torch.device) -> CausalGenerator:
        runtime = TorchRuntime(self.causal, str(device))
        return CausalGenerator(runtime, self.card, self.layout, batch=EVALUATION_BATCH)

    def _measure(self, generator: CausalGenerator, device: torch.device) -> dict[str, float]:
        """As `GenerationTask._measure`; with rewards also what `Rewarded.measure` says."""
        measures = self._likelihood(device)
        if self.reward.draws:
            rows = sample(list(range(len(self.valid))), REWARDED_SAMPLE, self.options.seed)
            measures |= self.rewarded.measure(self.held_out, rows, device, self.options.seed)
        return measures

    @torch.inference_mode()
    def _likelihood(self, device: torch.device) -> dict[str, float]:
        first, sums = self.causal.words, LikelihoodSums()
        for part in self.held_out.parts(EVALUATION_BATCH):
            ids, rows, places, targets = self.held_out.batch(part).to(device)
            with torch.autocast("cuda", torch.bfloat16, enabled=device.type == "cuda"):
                logits = self.causal.likelihood(ids, rows, places)
            likely = logits.log_softmax(-1).gather(1, targets[:, None])[:, 0].double()
            is_strategy = targets >= first
            sums.total += float(likely.sum())
            sums.tokens += len(targets)
            sums.of_words += float(likely[~is_strategy].sum())
            sums.words += float((~is_strategy).sum())
            guessed = first + logits[is_strategy, first : first + len(STRATEGIES)].argmax(-1)
            sums.right += float((guessed == targets[is_strategy]).sum())
            sums.asked += float(is_strategy.sum())
        return sums.report("strategy_accuracy")

    def save(self, folder: Path) -> None:
        causal_model.save(folder, self.causal, self.card)


def _model(wanted: CausalOptions, limits: Limits) -> LoadedCausal:
    given = [name for name in ("pretrained", "start") if getattr(wanted, name)]
    if len(given) != 1:
        raise AllearsError(
            "recipe: [model] of a language model needs one of `pretrained` (smollm2, a hub name, a folder or a .gguf "
            f"file) and `start` (a run folder); got {' and '.join(given) or 'none'}"
        )
    if wanted.start:
        found = causal_model.load_adapted(wanted.start, dropout=wanted.dropout)
        card = replace(
            found.card,
            limits=limits,
            context_turns=wanted.context_turns,
            strategy_first=wanted.strategy_first,
        )
        found = LoadedCausal(
            found.model, card, replace(found.layout, limits=limits, turns=wanted.context_turns)
        )
    else:
        found = causal_model.build(
            wanted.pretrained,
            limits,
            context_turns=wanted.context_turns,
            strategy_first=wanted.strategy_first,
            rank=wanted.rank,
            alpha=wanted.alpha,
            dropout=wanted.dropout,
        )
    _fits(found.model.longest, limits)
    return found


def _fits(longest: int, limits: Limits) -> None:
    persona = limits.persona_sentences * limits.persona_sentence_tokens
    needed = limits.context_tokens + persona + limits.response_tokens
    if needed > longest:
        raise AllearsError(
            f"recipe: [limits] asks for {needed} tokens at once (context, persona and response), but the language "
            f"model reads at most {longest}"
        )
