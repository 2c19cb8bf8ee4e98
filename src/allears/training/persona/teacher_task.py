"""The training task of the extractor's teacher: what people wrote down of MSC, and weak pairs before that."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from allears.corpora import data_root
from allears.metrics.rouge import rouge_l
from allears.models.extractor.teacher import PersonaTeacher, TeacherWeights
from allears.personas.examples import msc_tellings, persona_chat_tellings
from allears.personas.gate import f1
from allears.training.loop import Backward
from allears.training.recipe import Recipe, only_tables, parse, sample
from allears.training.workers import Workers


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherDataOptions:
    """Weak pairs of PERSONA-CHAT are seen in the first epoch alone: `weak` for each gold turn."""

    root: str = ""  # default: ALLEARS_DATA
    weak: float = 1.0
    coverage: float = 0.6
    train_limit: int = 0
    valid_limit: int = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherModelOptions:
    pretrained: str = "smollm2"  # or a hub name, a folder, a .gguf file


class TeacherTask:
    def __init__(self, recipe: Recipe, folder: Path):
        only_tables(recipe, {"data", "model"})
        self.options = recipe.training
        data = parse(TeacherDataOptions, recipe.tables.get("data", {}), "data")
        wanted = parse(TeacherModelOptions, recipe.tables.get("model", {}), "model")
        torch.manual_seed(self.options.seed)
        self.teacher = PersonaTeacher.from_base(wanted.pretrained)
        self.model = TeacherWeights(self.teacher.model)
        root, seed = data_root(data.root or None), self.options.seed
        gold = sample(msc_tellings("train", root), data.train_limit, seed)
        weak = persona_chat_tellings(root, coverage=data.coverage, seed=seed) if data.weak else []
        self.gold = len(gold)
        self.train = [*gold, *sample(weak, int(data.weak * len(gold)) or 1, seed)]
        self.tuning = sample(msc_tellings("tuning", root), data.valid_limit, seed)
        digest = hashlib.sha256(
            "\0".join(f"{each.utterance}\1{each.persona}" for each in self.train).encode()
        )
        self.data_fingerprint = digest.hexdigest()[:16]

    def batches(self, epoch: int) -> list[list[int]]:
        """Of neighbours in length, so that little is padding."""
        size = self.options.batch
        chance = np.random.default_rng((self.options.seed, epoch))
        rows = chance.permutation(len(self.train) if epoch == 0 else self.gold)
        parts = [rows[start : start + 16 * size] for start in range(0, len(rows), 16 * size)]
        batches = []
        for part in parts:
            alike = sorted(part.tolist(), key=lambda row: len(self.train[row].utterance))
            batches += [alike[start : start + size] for start in range(0, len(alike), size)]
        return [batches[place] for place in chance.permutation(len(batches))]

    def step(self, batch: list[int], epoch: int, workers: Workers, backward: Backward) -> Tensor:
        self.teacher.device = str(workers.device)
        loss = self.teacher.loss([self.train[row] for row in workers.share(batch)])
        backward(loss)
        return loss.detach()

    def evaluate(self, device: torch.device) -> dict[str, float]:
        """On MSC's tuning part: `f1` of persona or not, and `rouge_l` over the turns that tell something."""
        self.teacher.device = str(device)
        written = self.teacher.write([each.utterance for each in self.tuning])
        tells = np.array([bool(each.persona) for each in self.tuning])
        overlaps = [
            rouge_l(mine, each.persona)
            for mine, each in zip(written, self.tuning, strict=True)
            if each.persona
        ]
        return {
            "rouge_l": float(np.mean(overlaps)) if overlaps else 0.0,
            "f1": f1(np.array([bool(each) for each in written]), tells),
        }

    def save(self, folder: Path) -> None:
        self.teacher.save(folder)
