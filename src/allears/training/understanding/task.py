"""The training task of understanding: one reader, one head or many, each batch from one head."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from allears.conversation import Role, Turn
from allears.corpora.heads import Head
from allears.metrics.classification import token_f1, top_hits
from allears.models.reader import saved
from allears.runtime.answering import averaged
from allears.runtime.calibration import fit_temperature
from allears.text.layout import Limits
from allears.text.reading import Reading
from allears.training.loop import Backward
from allears.training.recipe import Recipe, only_tables, parse, sample
from allears.training.safety import harmless
from allears.training.safety.harmless import embedded, everyday_sentences, harmless_talk, single_cases
from allears.training.understanding.building import (
    HeadOptions,
    ReaderModelOptions,
    build_reader,
    chosen_heads,
    taken_over,
)
from allears.training.understanding.dataset import ReadingDataset
from allears.training.understanding.frozen import FrozenReadings, bundle_reading, model_reading, read_once
from allears.training.understanding.losses import label_loss, rationale_loss
from allears.training.understanding.teachers import is_left_out, teach
from allears.training.workers import Workers

ALIKE = 16  # batches whose readings are sorted by length among themselves
BARE_SHARE = 0.3  # of the train readings with past strategies, how many are learned without them
UNKNOWN_SHARE = (
    0.2  # of those of an informed head; a fifth costs it nothing, and without them it would be lost there
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderDataOptions:
    """Every head knows its corpus; here is only where they are and how much of them is used."""

    root: str = ""  # default: ALLEARS_DATA
    train_split: str = "train"
    valid_split: str = "valid"
    train_limit: int = 0  # a seeded sample of each head's readings; 0: all
    valid_limit: int = 0
    hidden: float = 0.0  # share of the tokens that a step does not show, against learning texts by heart
    single: int = 0  # for the danger head: single cases (0: all),
    embedded: int = 0  # cases between ordinary sentences,
    talk: int = 0  # messages of our own harmless conversations, with what was said before them,
    ordinary: int = 0  # and everyday messages of published conversations
    failed: bool = False  # whether the strategy head also learns from ESConv's failed conversations
    left_out: str = ""  # a part of the train readings that is not learned, such as "1/3": see `teachers.py`


class UnderstandingTask:
    def __init__(self, recipe: Recipe, folder: Path):
        only_tables(recipe, {"data", "model", "heads", "limits"})
        self.options = recipe.training
        self.data = parse(ReaderDataOptions, recipe.tables.get("data", {}), "data")
        self.wanted = parse(HeadOptions, recipe.tables.get("heads", {}), "heads")
        model = parse(ReaderModelOptions, recipe.tables.get("model", {}), "model")
        limits = parse(Limits, recipe.tables.get("limits", {}), "limits")
        heads = chosen_heads(self.wanted, model)
        self.heads = [
            each for each in heads if self.wanted.learns(each.name) or each.name in self.wanted.pointing
        ]
        torch.manual_seed(self.options.seed)
        self.model, self.card, self.tokenizer = build_reader(
            model,
            limits,
            heads,
            uncertainty=self.wanted.weighting == "uncertainty",
            informed=self.wanted.informed,
            pointing=self.wanted.pointing,
            plain=self.wanted.plain,
        )
        self.card = replace(self.card, window=self.wanted.pointing_window, left_out=self.data.left_out)
        self.temperatures = taken_over(model, heads, self.wanted)
        self.train = [
            self._dataset(
                [
                    reading
                    for reading in (
                        *self._readings(each, self.data.train_split, self.data.train_limit),
                        *self._ordinary(each),
                        *self._failed(each),
                    )
                    if not is_left_out(reading, self.data.left_out)
                ],
                each,
                learning=True,
            )
            for each in self.heads
        ]
        if self.wanted.teachers:
            teach(
                self.wanted.teachers,
                self.wanted.taught,
                self.heads,
                self.train,
                folder / "taught.npz",
                device="cuda" if torch.cuda.is_available() else "cpu",
            )
        self.valid = [
            self._dataset(self._readings(each, self.data.valid_split, self.data.valid_limit), each)
            for each in self.heads
        ]
        # the readings of all heads have one row of numbers: a head's begin at its first
        self.firsts = np.cumsum([0, *(len(data) for data in self.train)])
        self.data_fingerprint = hashlib.sha256(
            "".join(data.fingerprint for data in self.train).encode()
        ).hexdigest()[:16]
        self.read: list[FrozenReadings] | None = None  # of the train readings, then of the valid ones
        if model.frozen:
            self.model.encoder.requires_grad_(False)
            read = bundle_reading(model.read_with) if model.read_with else model_reading(self.model)
            pointing = [each.name in self.model.pointers for each in self.heads]
            self.read = read_once(
                read, [*self.train, *self.valid], folder / "readings.npz", pointing=pointing * 2
            )

    def _readings(self, each: Head, split: str, limit: int) -> list[Reading]:
        return sample(each.read(split, self.data.root or None), limit, self.options.seed)

    def _ordinary(self, each: Head) -> list[Reading]:
        """What the danger head learns beside the crisis talks: single cases, cases in long messages, ordinary talk."""
        if each.name != "danger":
            return []
        split, seed, root = self.data.train_split, self.options.seed, self.data.root or None
        cases = single_cases(split)
        texts = (
            harmless.everyday_messages(split, self.data.ordinary, seed, root=root)
            if self.data.ordinary
            else []
        )
        sentences = everyday_sentences(split, root) if self.data.embedded else []
        return [
            *sample(cases, self.data.single, seed),
            *embedded(cases, sentences, self.data.embedded, seed),
            *harmless_talk(split, self.data.talk, seed, root=root),
            *(Reading((Turn(Role.SEEKER, text),), (harmless.NONE,)) for text in texts),
        ]

    def _failed(self, each: Head) -> list[Reading]:
        """The support failed, yet which strategy follows which is much the same, and ESConv is small."""
        if each.name != "strategy" or not self.data.failed:
            return []
        return each.read("failed", self.data.root or None, corpus="esconv-failed")

    def _dataset(self, readings: list[Reading], each: Head, *, learning: bool = False) -> ReadingDataset:
        informed = each.name in self.card.informed
        if learning:
            seed = self.options.seed
            readings = (
                some_unknown(readings, UNKNOWN_SHARE, seed)
                if informed
                else some_bare(readings, BARE_SHARE, seed)
            )
        return ReadingDataset(
            readings,
            each.labels,
            self.tokenizer,
            self.card.limits,
            rationales=each.rationales,
            informed=informed,
        )

    def batches(self, epoch: int) -> list[list[int]]:
        """Each batch from one head. A head walks through its readings from epoch to epoch, shuffled anew
        whenever it has seen all of them, so that one with fewer batches than readings sees them all in time."""
        size = self.options.batch
        batches: list[list[int]] = []
        sizes = [len(data) for data in self.train]
        for number, count in enumerate(batches_per_head(sizes, size, self.wanted.share)):
            rows = self._walk(number, epoch * count * size, count * size)
            # neighbours of one length share a batch, so that little of it is padding
            for start in range(0, len(rows), ALIKE * size):
                part = rows[start : start + ALIKE * size]
                part = self.firsts[number] + part[np.argsort(self.train[number].lengths[part], kind="stable")]
                batches += [part[first : first + size].tolist() for first in range(0, len(part), size)]
        order = np.random.default_rng((self.options.seed, epoch)).permutation(len(batches))
        return [batches[position] for position in order]

    def _walk(self, number: int, start: int, count: int) -> np.ndarray:
        """`count` readings of a head from place `start` of its endless row of shuffled rounds."""
        size = len(self.train[number])
        rounds = range(start // size, (start + count - 1) // size + 1)
        row = np.concatenate(
            [np.random.default_rng((self.options.seed, number, each)).permutation(size) for each in rounds]
        )
        return row[start % size : start % size + count]

    def step(self, batch: list[int], epoch: int, workers: Workers, backward: Backward) -> Tensor:
        number = int(np.searchsorted(self.firsts, batch[0], side="right")) - 1
        each, data = self.heads[number], self.train[number]
        rows = [row - int(self.firsts[number]) for row in workers.share(batch)]
        if self.read is None:
            loss = self._loss_through_encoder(each, data, rows, workers.device)
        else:
            loss = self._loss_of_heads(each, data, rows, self.read[number], workers.device)
        loss = self.model.weighted(loss, each.name)
        backward(loss)
        return loss.detach()

    def _loss_through_encoder(
        self, each: Head, data: ReadingDataset, rows: list[int], device: torch.device
    ) -> Tensor:
        inputs = data.inputs(rows).to(device).hiding(self.data.hidden)
        output = self.model(inputs, [each.name], _on(device, data.facts_of(rows)))
        loss = self._label_loss(each, output.logits[each.name], data, rows)
        if each.name in output.rationales:
            marks = data.marks_of(rows).to(device)
            loss = loss + self.wanted.rationale_weight * rationale_loss(output.rationales[each.name], marks)
        return loss

    def _loss_of_heads(
        self,
        each: Head,
        data: ReadingDataset,
        rows: list[int],
        read: FrozenReadings,
        device: torch.device,
    ) -> Tensor:
        """A frozen encoder has read everything already; a head that only points has no loss of its labels."""
        loss = torch.zeros((), device=device)
        if self.wanted.learns(each.name):
            facts = _on(device, data.facts_of(rows))
            logits = self.model.answer(read.texts[rows].to(device), [each.name], facts).logits[each.name]
            loss = self._label_loss(each, logits, data, rows)
        if read.responses is not None:
            states = torch.cat([read.responses[row] for row in rows]).float().to(device)
            pointed = self.model.pointers[each.name](states).squeeze(-1)
            marks = torch.from_numpy(np.concatenate([data.asked_marks(row) for row in rows])).to(device)
            loss = loss + self.wanted.rationale_weight * rationale_loss(pointed, marks)
        return loss

    def _label_loss(self, each: Head, logits: Tensor, data: ReadingDataset, rows: list[int]) -> Tensor:
        return label_loss(
            logits,
            data.targets(rows).to(logits.device),
            multi_label=each.multi_label,
            smoothing=self.wanted.label_smoothing,
        )

    def evaluate(self, device: torch.device) -> dict[str, float]:
        """`accuracy`, the mean over the heads, and each head's own. The temperatures are fitted by the way.

        Where heads learn to point on a frozen encoder, also `rationale_f1` and each one's own.
        """
        reader = saved.TorchReader(self.model, self.card, self.tokenizer, device=str(device))
        found, pointed = {}, {}
        for number, (each, data) in enumerate(zip(self.heads, self.valid, strict=True)):
            if self.read is None:
                logits = reader.logits(each.name, data.readings)
            else:
                read = self.read[len(self.heads) + number]
                texts, facts = read.texts.to(device), _on(device, data.facts)
                logits = self.model.answer(texts, [each.name], facts).logits[each.name].cpu().numpy()
                if read.responses is not None:
                    pointed[f"rationale_f1_{each.name}"] = self._rationale_f1(each, data, read, device)
            found[f"accuracy_{each.name}"] = float(top_hits(logits, data.gold, 1).mean())
            if self.wanted.learns(each.name):
                self.temperatures[each.name] = fit_temperature(
                    logits, data.gold, multi_label=each.multi_label
                )
        means = {"accuracy": float(np.mean(list(found.values())))}
        if pointed:
            means["rationale_f1"] = float(np.mean(list(pointed.values())))
        return means | found | pointed

    def _rationale_f1(
        self, each: Head, data: ReadingDataset, read: FrozenReadings, device: torch.device
    ) -> float:
        assert read.responses is not None  # the head points
        pointer = self.model.pointers[each.name]
        scores = [pointer(each.float().to(device)).squeeze(-1).cpu().numpy() for each in read.responses]
        return float(
            np.mean(
                [
                    token_f1(data.asked_marks(row), averaged(found, self.card.window) > 0)
                    for row, found in enumerate(scores)
                ]
            )
        )

    def save(self, folder: Path) -> None:
        card = replace(self.card, temperatures=dict(self.temperatures))
        saved.save(folder, self.model, card, self.tokenizer)


def _on(device: torch.device, facts: Tensor | None) -> Tensor | None:
    return None if facts is None else facts.to(device)


def some_unknown(readings: Sequence[Reading], share: float, seed: int) -> list[Reading]:
    """A share of the readings without the past strategies, which are not always known; all others as they are."""
    chosen = np.random.default_rng(seed).random(len(readings)) < share
    return [
        reading.without_strategies if hide else reading
        for reading, hide in zip(readings, chosen, strict=True)
    ]


def some_bare(readings: Sequence[Reading], share: float, seed: int) -> list[Reading]:
    """A share of the readings that tell what was done so far, without it; all others as they are.

    The listener reads the strategy from the ranker's encoding of the conversation, which shows no strategies. A
    head that has always seen them would be lost there.
    """
    chosen = np.random.default_rng(seed).random(len(readings)) < share
    return [
        reading.bare if hide and reading.earlier is not None else reading
        for reading, hide in zip(readings, chosen, strict=True)
    ]


def batches_per_head(sizes: Sequence[int], batch: int, share: float) -> list[int]:
    """How many batches of an epoch each head has; an epoch has about as many as all readings fill."""
    weights = np.array(sizes, np.float64) ** share
    whole = max(len(sizes), sum(sizes) // batch)
    return [max(1, round(part)) for part in whole * weights / weights.sum()]
