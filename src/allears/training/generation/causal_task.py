"""The training task of language models: the same conversations as `task.py`, laid out as chats, adapters learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.decoding import Settings
from allears.errors import AllearsError
from allears.evaluation.generation import evaluate_generation
from allears.models.generation import causal_model
from allears.models.generation.causal_dataset import CausalDataset
from allears.models.generation.causal_model import LoadedCausal, TorchRuntime
from allears.runtime.causal import CausalGenerator
from allears.runtime.generator import STRATEGIES
from allears.text.layout import Limits
from allears.training.generation.rewarded import Rewarded
from allears.training.generation.rewards import RewardOptions
from allears.training.generation.task import (
    GenerationDataOptions,
    GenerationLossOptions,
    check_options,
    read_train,
    read_valid,
)
from allears.training.loop import Backward
from allears.training.recipe import Recipe, only_tables, parse, sample
from allears.training.workers import Workers

EVALUATION_BATCH = 64
REWARDED_SAMPLE = 400  # valid examples that are drawn for at each evaluation, where draws are rewarded
_WRITTEN = ("bleu_2", "rouge_l", "distinct_2", "length")


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


class CausalTask:
    def __init__(self, recipe: Recipe, folder: Path):
        only_tables(recipe, {"data", "model", "limits", "loss", "reward"})
        self.options = recipe.training
        self.data = parse(GenerationDataOptions, recipe.tables.get("data", {}), "data")
        self.loss = parse(GenerationLossOptions, recipe.tables.get("loss", {}), "loss")
        self.reward = parse(RewardOptions, recipe.tables.get("reward", {}), "reward")
        wanted = parse(CausalOptions, recipe.tables.get("model", {}), "model")
        limits = parse(Limits, recipe.tables.get("limits", {}), "limits")
        check_options(self.data, self.loss)
        torch.manual_seed(self.options.seed)
        found = _model(wanted, limits)
        self.causal, self.card, self.layout = found.model, found.card, found.layout
        self.model: nn.Module = found.model
        self.rewarded = Rewarded(
            found.model, found.layout, self.reward, strategy_first=found.card.strategy_first
        )
        train, groups = read_train(self.data, self.options.seed)
        self.valid = read_valid(self.data)
        self.train = CausalDataset(train, self.layout, groups)
        self.held_out = CausalDataset(self.valid, self.layout)
        self.data_fingerprint = self.train.fingerprint

    def batches(self, epoch: int) -> list[list[int]]:
        return self.train.batches(
            self.options.batch, epoch, seed=self.options.seed, weights=self.data.weights
        )

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

    def evaluate(self, device: torch.device) -> dict[str, float]:
        """As `GenerationTask.evaluate`: `likelihood` of a token, `ppl` of words and end, `strategy_accuracy`, and of
        a small sample, written greedily, BLEU, ROUGE-L and Distinct. With rewards also those of `Rewarded.measure`."""
        found = self._measure(device)
        if self.reward.draws:
            rows = sample(list(range(len(self.valid))), REWARDED_SAMPLE, self.options.seed)
            found |= self.rewarded.measure(self.held_out, rows, device, self.options.seed)
        chosen = sample(self.valid, self.data.sample, self.options.seed) if self.data.sample else []
        if chosen:
            runtime = TorchRuntime(self.causal, str(device))
            generator = CausalGenerator(runtime, self.card, self.layout, batch=EVALUATION_BATCH)
            settings = Settings(method="greedy", longest=self.card.limits.response_tokens)
            report = evaluate_generation(generator, chosen, settings=settings)
            found |= {name: report.measures[name] for name in _WRITTEN}
        return found

    @torch.inference_mode()
    def _measure(self, device: torch.device) -> dict[str, float]:
        self.model.eval()
        first = self.causal.words
        total = of_words = words = right = asked = 0.0
        for part in self.held_out.parts(EVALUATION_BATCH):
            ids, rows, places, targets = self.held_out.batch(part).to(device)
            with torch.autocast("cuda", torch.bfloat16, enabled=device.type == "cuda"):
                logits = self.causal.likelihood(ids, rows, places)
            likely = logits.log_softmax(-1).gather(1, targets[:, None])[:, 0].double()
            is_strategy = targets >= first
            total += float(likely.sum())
            of_words += float(likely[~is_strategy].sum())
            words += float((~is_strategy).sum())
            guessed = first + logits[is_strategy, first : first + len(STRATEGIES)].argmax(-1)
            right += float((guessed == targets[is_strategy]).sum())
            asked += float(is_strategy.sum())
        found = {"likelihood": total / (words + asked), "ppl": float(np.exp(-of_words / words))}
        return found | ({"strategy_accuracy": 100 * right / asked} if asked else {})

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
