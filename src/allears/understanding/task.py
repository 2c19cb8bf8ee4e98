"""The training task of understanding: one reader, one head or many, each batch from one head."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.progress import track
from torch import Tensor

from allears.conversation import Role, Turn
from allears.corpora.ordinary import ordinary_turns
from allears.errors import AllearsError
from allears.metrics.classification import top_hits
from allears.nn.encoder import Encoder, encoder_tokenizer
from allears.nn.inputs import Inputs
from allears.nn.low_rank import train_at_rank
from allears.nn.pooling import pool
from allears.nn.weights import load_alike
from allears.text.layout import Limits, Tokens, pad_flat
from allears.text.tokenizer import WordPiece
from allears.training.loop import Backward
from allears.training.recipe import Recipe, only_tables, parse, sample
from allears.training.workers import Workers
from allears.understanding import saved
from allears.understanding.calibration import fit_temperature
from allears.understanding.dataset import ReadingDataset
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

    `frozen` leaves that encoder as it is: every text is read once and only the heads learn, in seconds. They get
    no rationales, which need the states of single tokens. `read_with` names a bundle exported from that encoder:
    what its int8 graph says is then what the heads learn from, and reading is faster on a CPU.

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
    """

    names: tuple[str, ...]
    informed: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()
    share: float = 0.5
    weighting: str = "size"
    label_smoothing: float = 0.0
    rationale_weight: float = 0.5


class UnderstandingTask:
    def __init__(self, recipe: Recipe, folder: Path):
        only_tables(recipe, {"data", "model", "heads", "limits"})
        self.options = recipe.training
        self.data = parse(DataOptions, recipe.tables.get("data", {}), "data")
        self.wanted = parse(HeadOptions, recipe.tables.get("heads", {}), "heads")
        model = parse(ModelOptions, recipe.tables.get("model", {}), "model")
        limits = parse(Limits, recipe.tables.get("limits", {}), "limits")
        heads = _heads(self.wanted)
        self.heads = [each for each in heads if not self.wanted.learned or each.name in self.wanted.learned]
        torch.manual_seed(self.options.seed)
        self.model, self.card, self.tokenizer = build_reader(
            model,
            limits,
            heads,
            uncertainty=self.wanted.weighting == "uncertainty",
            informed=self.wanted.informed,
        )
        self.temperatures = _taken_over(model, heads, self.heads)
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
        self.read: list[Tensor] | None = None  # what a frozen encoder made of the train and valid readings
        if model.frozen:
            self.model.encoder.requires_grad_(False)
            read = _bundle_reading(model.read_with) if model.read_with else _model_reading(self.model)
            self.read = read_once(read, [*self.train, *self.valid], folder / "readings.npz")

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
        facts = data.facts_of(rows)
        facts = None if facts is None else facts.to(workers.device)
        if self.read is None:
            inputs = data.inputs(rows).to(workers.device).hiding(self.data.hidden)
            output = self.model(inputs, [each.name], facts)
        else:
            output = self.model.answer(self.read[number][rows].to(workers.device), [each.name], facts)
        loss = label_loss(
            output.logits[each.name],
            data.targets(rows).to(workers.device),
            multi_label=each.multi_label,
            smoothing=self.wanted.label_smoothing,
        )
        if each.name in output.rationales:
            marks = data.marks_of(rows).to(workers.device)
            loss = loss + self.wanted.rationale_weight * rationale_loss(output.rationales[each.name], marks)
        loss = self.model.weighted(loss, each.name)
        backward(loss)
        return loss.detach()

    def evaluate(self, device: torch.device) -> dict[str, float]:
        """`accuracy`, the mean over the heads, and each head's own. The temperatures are fitted by the way."""
        reader = saved.TorchReader(self.model, self.card, self.tokenizer, device=str(device))
        found = {}
        for number, (each, data) in enumerate(zip(self.heads, self.valid, strict=True)):
            if self.read is None:
                logits = reader.logits(each.name, data.readings)
            else:
                text = self.read[len(self.heads) + number].to(device)
                facts = None if data.facts is None else data.facts.to(device)
                logits = self.model.answer(text, [each.name], facts).logits[each.name].cpu().numpy()
            found[f"accuracy_{each.name}"] = float(top_hits(logits, data.gold, 1).mean())
            self.temperatures[each.name] = fit_temperature(logits, data.gold, multi_label=each.multi_label)
        return {"accuracy": float(np.mean(list(found.values()))), **found}

    def save(self, folder: Path) -> None:
        card = replace(self.card, temperatures=dict(self.temperatures))
        saved.save(folder, self.model, card, self.tokenizer)


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


Read = Callable[[Tokens], Tensor]
"""Padded texts in, one vector for each out."""


def _model_reading(model: Reader) -> Read:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model.to(device).eval()

    @torch.no_grad()
    def read(tokens: Tokens) -> Tensor:
        inputs = Inputs.from_tokens(tokens).to(device)
        return model.text(model.encoder(inputs), inputs).float().cpu()

    return read


def _bundle_reading(bundle: str) -> Read:
    from allears.selection.runtime import OnnxSelector

    encoder = OnnxSelector.from_bundle(bundle).encoder

    def read(tokens: Tokens) -> Tensor:
        states = torch.from_numpy(encoder.run(tokens.ids, tokens.mask, tokens.segments).states)
        return pool(states, torch.from_numpy(tokens.mask), "mean")

    return read


def read_once(read: Read, parts: Sequence[ReadingDataset], kept: Path) -> list[Tensor]:
    """One vector per reading of each part, from one pass of the encoder over every different text.

    Kept in the run folder, so that a resumed run need not read everything again.
    """
    if kept.is_file():
        with np.load(kept) as file:
            return [torch.from_numpy(file[str(number)]).float() for number in range(len(parts))]
    places: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for number, data in enumerate(parts):
        for row, (ids, segments) in enumerate(data.rows):
            places.setdefault((*ids, *segments), []).append((number, row))
    different = sorted(places.values(), key=lambda same: parts[same[0][0]].lengths[same[0][1]])
    found: dict[tuple[int, int], Tensor] = {}
    for start in track(range(0, len(different), 64), description="reading everything once", transient=True):
        group = different[start : start + 64]
        tokens = pad_flat([parts[same[0][0]].rows[same[0][1]] for same in group], parts[0].tokenizer.pad)
        for same, vector in zip(group, read(tokens).half(), strict=True):
            found |= dict.fromkeys(same, vector)
    arrays: dict[str, Any] = {
        str(number): torch.stack([found[number, row] for row in range(len(data))]).numpy()
        for number, data in enumerate(parts)
    }
    kept.parent.mkdir(parents=True, exist_ok=True)
    temporary = kept.with_name("readings.part.npz")
    np.savez(temporary, **arrays)
    temporary.rename(kept)
    return [torch.from_numpy(arrays[str(number)]).float() for number in range(len(parts))]


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
) -> tuple[Reader, saved.ReaderCard, WordPiece]:
    """The reader a recipe asks for, before training, with its tokenizer."""
    encoder, tokenizer, other = _encoder(wanted)
    if wanted.layers:
        encoder = encoder.first_layers(wanted.layers)
    options = {
        "multi_label": [each.name for each in heads if each.multi_label],
        "rationales": [each.name for each in heads if each.rationales and not wanted.frozen],
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


def _heads(wanted: HeadOptions) -> list[Head]:
    if not wanted.names:
        raise AllearsError('recipe: [heads] needs at least one of them: names = ["ed-emotion"]')
    if len(set(wanted.names)) < len(wanted.names):
        raise AllearsError("recipe: heads.names has a head twice")
    if wanted.weighting not in ("size", "uncertainty"):
        raise AllearsError(f"recipe: heads.weighting is 'size' or 'uncertainty', got {wanted.weighting!r}")
    for what, names in (("informed", wanted.informed), ("learned", wanted.learned)):
        unknown = [name for name in names if name not in wanted.names]
        if unknown:
            raise AllearsError(f"recipe: heads.{what} has {unknown[0]!r}, which heads.names has not")
    return [head(name) for name in wanted.names]


def _taken_over(wanted: ModelOptions, heads: Sequence[Head], learned: Sequence[Head]) -> dict[str, float]:
    """The temperatures of the heads that do not learn; an error unless `start` has those very heads."""
    kept = [each for each in heads if each not in learned]
    if not kept:
        return {}
    if not saved.is_reader(wanted.start):
        raise AllearsError(
            f"recipe: heads.learned leaves out {kept[0].name}, so model.start must be a reader that has it"
        )
    start = saved.load(wanted.start)
    for each in kept:
        start.needs(each.name)
        if start.card.options.get("hidden", 0) != wanted.hidden or each.name in start.card.informed:
            raise AllearsError(
                f"recipe: the head {each.name} of model.start has another form; model.hidden must be "
                f"{start.card.options.get('hidden', 0)} as there"
            )
    known = start.card.temperatures
    return {each.name: known[each.name] for each in kept if each.name in known}
