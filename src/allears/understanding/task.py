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
from allears.corpora.ordinary import ordinary_turns
from allears.errors import AllearsError
from allears.metrics.classification import token_f1, top_hits
from allears.nn.encoder import Encoder, encoder_tokenizer
from allears.nn.low_rank import train_at_rank
from allears.nn.weights import load_alike
from allears.text.layout import Limits
from allears.text.tokenizer import WordPiece
from allears.training.loop import Backward
from allears.training.recipe import Recipe, only_tables, parse, sample
from allears.training.workers import Workers
from allears.understanding import saved
from allears.understanding.answering import averaged
from allears.understanding.calibration import fit_temperature
from allears.understanding.dataset import ReadingDataset
from allears.understanding.frozen import FrozenReadings, bundle_reading, model_reading, read_once
from allears.understanding.heads import Head, head
from allears.understanding.labels import RISKS
from allears.understanding.losses import label_loss, rationale_loss
from allears.understanding.reader import Reader
from allears.understanding.reading import Reading

ALIKE = 16  # batches whose readings are sorted by length among themselves
BARE_SHARE = 0.3  # of the train readings with past strategies, how many are learned without them
UNKNOWN_SHARE = (
    0.2  # of those of an informed head; a fifth costs it nothing, and without them it would be lost there
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOptions:
    """Every head knows its corpus; here is only where they are and how much of them is used."""

    root: str = ""  # default: ALLEARS_DATA
    train_split: str = "train"
    valid_split: str = "valid"
    train_limit: int = 0  # a seeded sample of each head's readings; 0: all
    valid_limit: int = 0
    hidden: float = 0.0  # share of the tokens that a step does not show, against learning texts by heart
    ordinary: int = (
        0  # turns of everyday conversations that the risk head learns as harmless, beside its cases
    )
    failed: bool = False  # whether the strategy head also learns from ESConv's failed conversations


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """`start` shares another run's encoder: a selection model's, or a reader's (whose heads go on as well).

    `frozen` leaves that encoder as it is: every text is read once and only the heads learn, in seconds. Rationales,
    which need the states of single tokens, are learned by those of `heads.pointing` alone. `read_with` names a bundle
    exported from that encoder: what its int8 graph says is then what the heads learn from, and reading is faster on
    a CPU.

    `layers` takes the encoder's first so many layers alone, for a reader that is no part of a ranker's.

    `rank` lets every matrix of the encoder learn a change of that rank alone, and its biases and norms; that is what a
    bundle stores of a screen. With `read_with` the matrices begin as that bundle has them, and cutting the change loses
    nothing. Such a change wants about ten times the learning rate of whole matrices.
    """

    encoder: str = ""
    start: str = ""
    layers: int = 0
    rank: int = 0
    frozen: bool = False
    read_with: str = ""
    hidden: int = 0
    pooling: str = "mean"
    dropout: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadOptions:
    """Which heads are learned, and how they share the encoder.

    In an epoch a head has batches in proportion to its size to the power of `share`: 1 is as they come, 0 the
    same number for each. `weighting` is "size" (that alone) or "uncertainty" (each loss's weight is learned).

    `informed` heads are told the facts of a conversation beside its words (`conversation_facts.py`). `learned` are
    those of `names` that learn, where not all do: the others are taken over from the reader in `model.start`.

    `pointing`, for a frozen encoder, are those that learn where a response shows what they say (EPITOME). With it and
    without `learned` nothing else learns: all labels are given as by the reader in `model.start`. To say where, the
    scores of `pointing_window` neighbouring tokens are averaged.
    """

    names: tuple[str, ...]
    informed: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()
    pointing: tuple[str, ...] = ()
    pointing_window: int = 1
    share: float = 0.5
    weighting: str = "size"
    label_smoothing: float = 0.0
    rationale_weight: float = 0.5

    def learns(self, name: str) -> bool:
        """Whether a head learns its labels."""
        return name in (self.learned or (() if self.pointing else self.names))


class UnderstandingTask:
    def __init__(self, recipe: Recipe, folder: Path):
        only_tables(recipe, {"data", "model", "heads", "limits"})
        self.options = recipe.training
        self.data = parse(DataOptions, recipe.tables.get("data", {}), "data")
        self.wanted = parse(HeadOptions, recipe.tables.get("heads", {}), "heads")
        model = parse(ModelOptions, recipe.tables.get("model", {}), "model")
        limits = parse(Limits, recipe.tables.get("limits", {}), "limits")
        heads = _heads(self.wanted, model)
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
        )
        self.card = replace(self.card, window=self.wanted.pointing_window)
        self.temperatures = _taken_over(model, heads, self.wanted)
        self.train = [
            self._dataset(
                [
                    *self._readings(each, self.data.train_split, self.data.train_limit),
                    *self._ordinary(each),
                    *self._failed(each),
                ],
                each,
                learning=True,
            )
            for each in self.heads
        ]
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
        """The risk cases are half danger and half what sounds like it; most of what people say is neither."""
        if each.name != "risk" or not self.data.ordinary:
            return []
        texts = ordinary_turns(
            self.data.train_split, self.data.ordinary, self.options.seed, root=self.data.root or None
        )
        return [Reading((Turn(Role.SEEKER, text),), (RISKS[0],)) for text in texts]

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


def build_reader(
    wanted: ModelOptions,
    limits: Limits,
    heads: Sequence[Head],
    *,
    uncertainty: bool = False,
    informed: Sequence[str] = (),
    pointing: Sequence[str] = (),
) -> tuple[Reader, saved.ReaderCard, WordPiece]:
    """The reader a recipe asks for, before training, with its tokenizer."""
    encoder, tokenizer, other = _encoder(wanted)
    if wanted.layers:
        encoder = encoder.first_layers(wanted.layers)
    options = {
        "multi_label": [each.name for each in heads if each.multi_label],
        "rationales": [
            each.name for each in heads if each.rationales and (not wanted.frozen or each.name in pointing)
        ],
        "hidden": wanted.hidden,
        "pooling": wanted.pooling,
        "dropout": wanted.dropout,
        "uncertainty": uncertainty,
        **({"informed": list(informed)} if informed else {}),
    }
    card = saved.ReaderCard({each.name: each.labels for each in heads}, limits, encoder.config, options)
    model = saved.build(card, encoder)
    if other is not None:  # go on with the heads that are the same
        load_alike(model, other)
    if wanted.rank:
        _learn_at_rank(model, wanted)
    return model, card, tokenizer


def _learn_at_rank(model: Reader, wanted: ModelOptions) -> None:
    if wanted.rank < 0:
        raise AllearsError(f"recipe: model.rank is 1 or more (0: whole matrices learn), got {wanted.rank}")
    if wanted.frozen:
        raise AllearsError("recipe: model.frozen leaves the encoder as it is; leave model.rank out")
    if wanted.read_with:
        from allears.selection.stored_matrices import begin_as_stored

        begin_as_stored(model.encoder, wanted.read_with)
    train_at_rank(model.encoder, wanted.rank)


def _encoder(wanted: ModelOptions) -> tuple[Encoder, WordPiece, Reader | None]:
    if wanted.start and saved.is_reader(wanted.start):
        reader = saved.load(wanted.start)
        return reader.model.encoder, reader.tokenizer, reader.model
    if wanted.start:
        from allears.selection import saved as selection

        start = selection.load(wanted.start)
        encoder, tokenizer = getattr(start.model, "encoder", None), start.tokenizer
        if not isinstance(encoder, Encoder) or not isinstance(tokenizer, WordPiece):
            raise AllearsError(f"recipe: model.start {wanted.start!r} has no encoder to go on from")
        return encoder, tokenizer, None
    if wanted.encoder:
        return Encoder.from_pretrained(wanted.encoder), encoder_tokenizer(wanted.encoder), None
    raise AllearsError("recipe: [model] needs `encoder` (a hub name or a folder) or `start` (a run folder)")


def _heads(wanted: HeadOptions, model: ModelOptions) -> list[Head]:
    if not wanted.names:
        raise AllearsError('recipe: [heads] needs at least one of them: names = ["ed-emotion"]')
    if len(set(wanted.names)) < len(wanted.names):
        raise AllearsError("recipe: heads.names has a head twice")
    if wanted.weighting not in ("size", "uncertainty"):
        raise AllearsError(f"recipe: heads.weighting is 'size' or 'uncertainty', got {wanted.weighting!r}")
    for what in ("informed", "learned", "pointing"):
        unknown = [name for name in getattr(wanted, what) if name not in wanted.names]
        if unknown:
            raise AllearsError(f"recipe: heads.{what} has {unknown[0]!r}, which heads.names has not")
    blind = [name for name in wanted.pointing if not head(name).rationales]
    if blind:
        raise AllearsError(f"recipe: heads.pointing has {blind[0]!r}, whose corpus has no rationales")
    if wanted.pointing and not model.frozen:
        raise AllearsError(
            "recipe: heads.pointing is for model.frozen = true; otherwise every head with rationales points"
        )
    if wanted.pointing_window < 1 or wanted.pointing_window % 2 == 0:
        raise AllearsError(
            f"recipe: heads.pointing_window is an odd number of tokens, 1 or more; got {wanted.pointing_window}"
        )
    return [head(name) for name in wanted.names]


def _taken_over(model: ModelOptions, heads: Sequence[Head], wanted: HeadOptions) -> dict[str, float]:
    """The temperatures of the heads whose labels do not learn; an error unless `start` has those very heads."""
    kept = [each for each in heads if not wanted.learns(each.name)]
    if not kept:
        return {}
    if not saved.is_reader(model.start):
        raise AllearsError(
            f"recipe: the head {kept[0].name} does not learn, so model.start must be a reader that has it"
        )
    start = saved.load(model.start)
    for each in kept:
        start.needs(each.name)
        if (each.name in start.card.informed) != (each.name in wanted.informed):
            raise AllearsError(
                f"recipe: the head {each.name} of model.start has another form; heads.informed must name it "
                "here where it does so there, and only there"
            )
        if start.card.options.get("hidden", 0) != model.hidden:
            raise AllearsError(
                f"recipe: the head {each.name} of model.start has another form; model.hidden must be "
                f"{start.card.options.get('hidden', 0)} as there"
            )
    known = start.card.temperatures
    return {each.name: known[each.name] for each in kept if each.name in known}
