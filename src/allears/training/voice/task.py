"""The training task of a voice: whole conversations, of which the supporter's words are learned (recipes/voice.toml).

L = -1/N sum_t log P(r_t | everything before it)      over the strategies and words of all replies of a batch
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from allears.corpora import read
from allears.errors import AllearsError
from allears.models.generation.causal_model import padded
from allears.models.language_models import load_chat_tokenizer
from allears.training.loop import Backward
from allears.training.recipe import Recipe, only_tables, parse, sample
from allears.training.voice.dataset import Row, TalkRows, fingerprint
from allears.training.voice.model import VoiceCard, VoiceModel, build, load_adapter, save
from allears.training.workers import Workers


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceData:
    train: tuple[str, ...] = ("talks",)
    valid: str = "talks"
    root: str = ""  # of the corpora; empty: ALLEARS_DATA
    leave_out: tuple[str, ...] = ()  # kinds of conversations that are not learned from
    retold: float = 0.3  # share of conversations shown from the middle on, with what was said before as known
    limit: int = 0  # conversations of each corpus; 0: all
    valid_limit: int = 0  # conversations to measure on; 0: all
    longest: int = 1024  # tokens of a conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceOptions:
    base: str  # a hub name, a folder or a .gguf file
    start: str = ""  # go on from the adapter of this run
    rank: int = 8
    alpha: int = 16
    dropout: float = 0.05
    first_layer: int = 0  # layers below it get no adapter and cost no backward pass
    half: bool | None = None  # compute in bfloat16; left out: on a GPU alone


class VoiceTask:
    def __init__(self, recipe: Recipe, folder: Path):
        only_tables(recipe, {"data", "model"})
        self.data = parse(VoiceData, recipe.tables.get("data", {}), "data")
        self.options = parse(VoiceOptions, recipe.tables.get("model", {}), "model")
        self.seed, self.batch = recipe.training.seed, recipe.training.batch
        root = self.data.root or None
        self.train = [
            talk
            for name in self.data.train
            for talk in sample(list(read(name, "train", root)), self.data.limit, self.seed)
            if talk.labels.get("kind") not in self.data.leave_out
        ]
        held_out = list(read(self.data.valid, "valid", root))
        self.valid = sample(held_out, self.data.valid_limit or self.data.limit, self.seed)
        if not self.train or not self.valid:
            raise AllearsError("there are no conversations to learn from, or none to measure on")
        tokenizer = load_chat_tokenizer(self.options.base).whole
        self.rows = TalkRows(tokenizer, self.data.longest, self.data.retold)
        self.plain_rows = TalkRows(tokenizer, self.data.longest)
        torch.manual_seed(self.seed)  # of the fresh adapter: a resumed run begins with the same
        self.model = start_model(self.options)
        self.data_fingerprint = fingerprint(self.train)
        self.lengths = np.array([sum(len(turn.text) for turn in talk.turns) for talk in self.train])

    def batches(self, epoch: int) -> list[list[int]]:
        """Batches of conversations of about the same length, in an order of their own each epoch."""
        chance = np.random.default_rng([self.seed, epoch])
        order = np.lexsort((chance.random(len(self.train)), self.lengths // 200))
        starts = range(0, len(order) - self.batch + 1, self.batch)
        batches = [order[start : start + self.batch].tolist() for start in starts]
        return [batches[place] for place in chance.permutation(len(batches))]

    def step(self, batch: list[int], epoch: int, workers: Workers, backward: Backward) -> Tensor:
        seed = self.seed * 1000 + epoch
        rows = [self.rows.row(self.train[place], seed) for place in workers.share(batch)]
        told = self._log_probabilities(self.model, rows, workers.device)
        loss = -told.sum() / max(1, len(told))
        backward(loss)
        return loss.detach()

    def evaluate(self, device: torch.device) -> dict[str, float]:
        """`ppl` per token of the replies, with their strategies; `likelihood` is the mean log-probability."""
        total, count = 0.0, 0
        for start in range(0, len(self.valid), self.batch):
            rows = [self.plain_rows.row(talk, 0) for talk in self.valid[start : start + self.batch]]
            found = self._log_probabilities(self.model, rows, device)
            total, count = total + float(found.detach().double().sum()), count + len(found)
        return {"likelihood": total / count, "ppl": math.exp(-total / count)}

    def save(self, folder: Path) -> None:
        save(folder, self.model, card_of(self.options))

    @staticmethod
    def _log_probabilities(model: VoiceModel, rows: list[Row], device: Any) -> Tensor:
        ids, _ = padded([row[0] for row in rows], device)
        learn, _ = padded([row[1] for row in rows], device)
        return model.log_probabilities(ids, learn.bool())[0]


def start_model(options: VoiceOptions) -> VoiceModel:
    model = build(
        options.base,
        rank=options.rank,
        alpha=options.alpha,
        dropout=options.dropout,
        first_layer=options.first_layer,
        half=options.half,
    )
    if options.start:
        load_adapter(options.start, model)
    return model


def card_of(options: VoiceOptions) -> VoiceCard:
    return VoiceCard(
        base=Path(options.base).name,
        rank=options.rank,
        alpha=options.alpha,
        first_layer=options.first_layer,
    )
