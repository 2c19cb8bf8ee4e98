"""Preferences (DPO, Rafailov et al. 2023): of two replies at the same place, the better one becomes likelier.

L = -log sigmoid(beta [ (log P(y+) - log P0(y+)) - (log P(y-) - log P0(y-)) ]) + weight * NLL(y+)

P0 is the voice before training (`model.start`), asked once for all pairs. The second term keeps the better reply likely
(Pang et al. 2024). A pair is one line of JSON: `{"id", "turn", "chosen": {"strategy", "text"}, "rejected": {...}}`,
where the conversation `id` is one of the corpus and `turn` (from 1) the place of the reply in it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from allears.conversation import Conversation
from allears.corpora import read
from allears.corpora.files import CorpusError, Source, raise_bad
from allears.corpora.json_files import Record, field, json_lines, text_field
from allears.errors import AllearsError
from allears.labels import STRATEGIES
from allears.models.generation.causal_model import padded
from allears.models.language_models import load_chat_tokenizer
from allears.runtime.talk_layout import END, Segment, prompt_text, reply_text
from allears.training.loop import Backward
from allears.training.recipe import Recipe, only_tables, parse
from allears.training.voice.dataset import Row, TalkRows
from allears.training.voice.drafts import known_before
from allears.training.voice.model import save
from allears.training.voice.task import VoiceData, VoiceOptions, card_of, start_model
from allears.training.workers import Workers

VALID_SHARE = 20  # one pair in so many is held out


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    pairs: tuple[str, ...]  # files
    beta: float = 0.1
    likelihood: float = 0.2  # weight of the better reply's likelihood


class PreferenceTask:
    def __init__(self, recipe: Recipe, folder: Path):
        only_tables(recipe, {"data", "model", "preference"})
        self.data = parse(VoiceData, recipe.tables.get("data", {}), "data")
        self.options = parse(VoiceOptions, recipe.tables.get("model", {}), "model")
        self.preferences = parse(Preferences, recipe.tables.get("preference", {}), "preference")
        self.seed, self.batch = recipe.training.seed, recipe.training.batch
        if not self.options.start:
            raise AllearsError(
                "recipe: preferences need a voice to start from; set model.start to its run folder"
            )
        talks = {
            talk.id: talk for name in self.data.train for talk in read(name, "train", self.data.root or None)
        }
        tokenizer = load_chat_tokenizer(self.options.base).whole
        self.rows = TalkRows(tokenizer, self.data.longest)
        self.pairs = [
            self._rows(pair, talks[pair["id"]])
            for path in self.preferences.pairs
            for pair in read_pairs(Path(path), talks)
        ]
        order = np.random.default_rng(self.seed).permutation(len(self.pairs))
        held = max(1, len(order) // VALID_SHARE)
        self.held, self.kept = order[:held].tolist(), order[held:].tolist()
        self.model = start_model(self.options)
        self.reference = self._reference()
        self.data_fingerprint = hashlib.sha256(repr(self.pairs).encode()).hexdigest()[:16]

    def _rows(self, pair: Record, talk: Conversation) -> tuple[Row, Row]:
        before = Segment(prompt_text(talk.turns[: pair["turn"] - 1], known_before(talk)))
        better, worse = (
            self.rows.tokens([before, Segment(reply_text(side["text"], side["strategy"]) + END, learn=True)])
            for side in (pair["chosen"], pair["rejected"])
        )
        return better, worse

    def batches(self, epoch: int) -> list[list[int]]:
        chance = np.random.default_rng([self.seed, epoch])
        order = [self.kept[place] for place in chance.permutation(len(self.kept))]
        order.sort(key=lambda place: len(self.pairs[place][0][0]) // 128)
        starts = range(0, len(order) - self.batch + 1, self.batch)
        batches = [order[start : start + self.batch] for start in starts]
        return [batches[place] for place in chance.permutation(len(batches))]

    def step(self, batch: list[int], epoch: int, workers: Workers, backward: Backward) -> Tensor:
        own = workers.share(batch)
        better, worse, nll = self._sums(own, workers.device)
        first, second = (
            torch.tensor(side, device=workers.device)
            for side in zip(*(self.reference[place] for place in own), strict=True)
        )
        margin = self.preferences.beta * ((better - first) - (worse - second))
        loss = -F.logsigmoid(margin).mean() + self.preferences.likelihood * nll
        backward(loss)
        return loss.detach()

    def evaluate(self, device: torch.device) -> dict[str, float]:
        """`preferred`: how often the better reply of a held-out pair has become the likelier one, in percent."""
        right, margins, nll = 0, [], []
        for start in range(0, len(self.held), self.batch):
            part = self.held[start : start + self.batch]
            better, worse, loss = self._sums(part, device)
            for place, one, other in zip(part, better.tolist(), worse.tolist(), strict=True):
                first, second = self.reference[place]
                margins.append((one - first) - (other - second))
                right += margins[-1] > 0
            nll.append(float(loss))
        return {
            "preferred": 100 * right / len(self.held),
            "margin": float(np.mean(margins)),
            "likelihood": -float(np.mean(nll)),
        }

    def save(self, folder: Path) -> None:
        save(folder, self.model, card_of(self.options))

    def _reference(self) -> dict[int, tuple[float, float]]:
        """log P0 of both replies of every pair, before any checkpoint is loaded: a resumed run starts from the same."""
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model.to(device).eval()
        found: dict[int, tuple[float, float]] = {}
        with torch.inference_mode():
            for start in range(0, len(self.pairs), self.batch):
                part = list(range(start, min(start + self.batch, len(self.pairs))))
                better, worse, _ = self._sums(part, device)
                found |= dict(zip(part, zip(better.tolist(), worse.tolist(), strict=True), strict=True))
        return found

    def _sums(self, places: list[int], device: Any) -> tuple[Tensor, Tensor, Tensor]:
        """log P of the better and of the worse reply of each pair, and the better one's loss per token."""
        rows = [self.pairs[place][side] for side in (0, 1) for place in places]
        ids, _ = padded([row[0] for row in rows], device)
        learn, _ = padded([row[1] for row in rows], device)
        found, owner = self.model.log_probabilities(ids, learn.bool())
        sums = torch.zeros(len(rows), device=found.device).index_add(0, owner, found)
        count = len(places)
        return sums[:count], sums[count:], -found[owner < count].mean()


def read_pairs(path: Path, talks: dict[str, Conversation]) -> list[Record]:
    """The pairs of a file; a wrong one is one sentence with its line."""
    source, pairs = Source(path), []
    for line, record in json_lines(source, raise_bad):
        try:
            id, turn = text_field(record, "id"), field(record, "turn", int)
            if id not in talks or not 2 <= turn <= len(talks[id].turns):
                raise ValueError(f"there is no turn {turn} of a conversation {id!r} in the training data")
            for side in ("chosen", "rejected"):
                reply = field(record, side, dict)
                text_field(reply, "text")
                if reply.get("strategy", "") not in ("", *STRATEGIES):
                    raise ValueError(f"{side}: unknown strategy {reply['strategy']!r}")
                reply.setdefault("strategy", "")
        except ValueError as error:
            raise CorpusError(str(error), source=source, line=line) from error
        pairs.append(record)
    if not pairs:
        raise AllearsError(f"{path}: there are no pairs in it")
    return pairs
