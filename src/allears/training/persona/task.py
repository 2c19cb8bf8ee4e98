"""The training task of the persona extractor: gold turns and weak pairs, mixed in every batch."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from allears.corpora import data_root
from allears.errors import AllearsError
from allears.metrics.rouge import rouge_l
from allears.models.extractor import saved
from allears.models.extractor.model import Extractor
from allears.nn.encoder import Encoder, encoder_of, encoder_tokenizer
from allears.nn.pretrained import load_encoder
from allears.nn.weights import load_alike
from allears.personas.constraint import Lexicon
from allears.personas.examples import Telling, msc_tellings, persona_chat_tellings, talk_tellings
from allears.personas.gate import Mask, f1, fit_threshold
from allears.personas.lengths import Lengths
from allears.personas.support import unsupported_share
from allears.text.tokenizer import WordPiece
from allears.training.loop import Backward
from allears.training.persona.dataset import TellingDataset
from allears.training.persona.labelling import read_tellings
from allears.training.recipe import Recipe, only_tables, parse, sample
from allears.training.workers import Workers

T = TypeVar("T")
MOST_UNSUPPORTED = 5.0  # percent; a checkpoint that invents more loses a point for each more


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractorDataOptions:
    """`gold_share` is how much of a batch is MSC's, in the first and in the last epoch; between them it moves
    evenly. The rest is PERSONA-CHAT's weak pairs, which teach to copy and to turn a phrase, and what a teacher has
    written (`allears persona label`)."""

    root: str = ""  # default: ALLEARS_DATA
    weak: bool = True
    talks: bool = False  # also what the authors of our own corpus noted, as gold
    taught: str = ""  # a file of the data folder that `allears persona label` wrote
    coverage: float = 0.6  # of a profile sentence's content words, for a weak pair
    gold_share: tuple[float, ...] = (0.3, 0.9)
    support: float = (
        0.5  # of a target sentence's content words that its utterance must say, or it is left out
    )
    train_limit: int = 0  # turns of MSC and as many weak pairs; 0: all
    valid_limit: int = 400  # turns that tell something, to write for; 0: all


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractorModelOptions:
    """`start` shares another run's encoder: a selection model's or a reader's; or goes on with an extractor."""

    encoder: str = ""
    start: str = ""
    layers: int = 4
    heads: int = 6
    inner: int = 2
    dropout: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractorLossOptions:
    """loss = writing + `gate` * (persona or not); a weak pair counts `weak_gate` in the latter."""

    gate: float = 1.0
    weak_gate: float = 0.3
    framing_price: float = 2.0  # while decoding: see `constraint.py`


class PersonaTask:
    def __init__(self, recipe: Recipe, folder: Path):
        only_tables(recipe, {"data", "model", "loss", "limits"})
        self.options = recipe.training
        self.data = parse(ExtractorDataOptions, recipe.tables.get("data", {}), "data")
        self.loss = parse(ExtractorLossOptions, recipe.tables.get("loss", {}), "loss")
        model = parse(ExtractorModelOptions, recipe.tables.get("model", {}), "model")
        lengths = parse(Lengths, recipe.tables.get("limits", {}), "limits")
        _check(self.data)
        torch.manual_seed(self.options.seed)
        self.model, self.card, self.tokenizer = build_extractor(model, lengths, self.loss.framing_price)
        self.lexicon = Lexicon(self.tokenizer, self.model.decoder.vocabulary)
        root = data_root(self.data.root or None)
        limit, seed = self.data.train_limit, self.options.seed
        noted = [*msc_tellings("train", root), *(talk_tellings("train", root) if self.data.talks else [])]
        gold = sample(noted, limit, seed)
        weak = persona_chat_tellings(root, coverage=self.data.coverage, seed=seed) if self.data.weak else []
        if self.data.taught:
            weak = [*weak, *read_tellings(root / self.data.taught)]
        weak = sample(weak, limit, seed)
        self.gold_count, self.weak_count = len(gold), len(weak)  # gold rows come first
        self.train = TellingDataset([*gold, *weak], self.tokenizer, lengths, support=self.data.support)
        self.tuning, self.held_out = (msc_tellings(part, root) for part in ("tuning", "held-out"))
        self.data_fingerprint = hashlib.sha256(self.train.fingerprint.encode()).hexdigest()[:16]

    def batches(self, epoch: int) -> list[list[int]]:
        """As many as all examples fill, each with this epoch's share of gold. Gold turns and weak pairs are
        walked through from epoch to epoch, each shuffled anew whenever all of them have been seen."""
        size = self.options.batch
        count = (self.gold_count + self.weak_count) // size
        gold_each = [self._gold_rows(each) for each in range(epoch + 1)]
        gold = self._walk(0, self.gold_count, count * sum(gold_each[:-1]), count * gold_each[-1])
        weak_each = [size - each for each in gold_each]
        weak = self._walk(1, self.weak_count, count * sum(weak_each[:-1]), count * weak_each[-1])
        return [
            [
                *gold[number * gold_each[-1] : (number + 1) * gold_each[-1]].tolist(),
                *(self.gold_count + weak[number * weak_each[-1] : (number + 1) * weak_each[-1]]).tolist(),
            ]
            for number in range(count)
        ]

    def _gold_rows(self, epoch: int) -> int:
        """How many rows of a batch are gold in an epoch."""
        if not self.weak_count:
            return self.options.batch
        first, last = self.data.gold_share
        done = min(1.0, epoch / max(1, self.options.epochs - 1))
        return round(self.options.batch * (first + done * (last - first)))

    def _walk(self, number: int, size: int, start: int, count: int) -> np.ndarray:
        """`count` rows from place `start` of an endless row of shuffled rounds."""
        if not count:
            return np.zeros(0, np.int64)
        rounds = range(start // size, (start + count - 1) // size + 1)
        row = np.concatenate(
            [np.random.default_rng((self.options.seed, number, each)).permutation(size) for each in rounds]
        )
        return row[start % size : start % size + count]

    def step(self, batch: list[int], epoch: int, workers: Workers, backward: Backward) -> Tensor:
        rows = workers.share(batch)
        inputs = self.train.inputs(rows).to(workers.device)
        gate, states = self.model.read(inputs)
        tells = torch.from_numpy(self.train.tells[rows]).to(workers.device)
        weights = torch.from_numpy(np.where(self.train.gold[rows], 1.0, self.loss.weak_gate))
        weights = weights.float().to(workers.device)
        loss = F.binary_cross_entropy_with_logits(gate.float(), tells.float(), weights, reduction="sum")
        loss = self.loss.gate * loss / weights.sum().clamp(min=1e-6)
        telling = [place for place, row in enumerate(rows) if self.train.targets[row]]
        if telling:
            targets, mask = self.train.written([rows[place] for place in telling])
            targets, mask = targets.to(workers.device), mask.to(workers.device)
            likely = self.model.likelihood(inputs[telling], states[telling], targets)
            loss = loss - (likely * mask).sum() / mask.sum()
        backward(loss)
        return loss.detach()

    def evaluate(self, device: torch.device) -> dict[str, float]:
        """On the held-out turns: `f1` of persona or not, and on those that tell something `rouge_l`,
        `rouge_l_gated` (nothing for turns the gate turned away) and `unsupported`. All are percentages.

        `score` is for choosing a checkpoint, so it is measured on the tuning part, like the gate's threshold.
        """
        extractor = saved.TorchExtractor(
            self.model, self.card, self.tokenizer, device=str(device), lexicon=self.lexicon
        )
        likely, unseen = (
            extractor.tells([telling.utterance for telling in part]) for part in (self.tuning, self.held_out)
        )
        threshold = fit_threshold(likely, _tells(self.tuning))
        self.card = replace(self.card, threshold=threshold)
        tuned = self._measure(extractor, self.tuning, likely >= threshold)
        found = self._measure(extractor, self.held_out, unseen >= threshold)
        invented = max(0.0, tuned["unsupported"] - MOST_UNSUPPORTED)
        return {"score": (tuned["f1"] + tuned["rouge_l"]) / 2 - invented, **found, "threshold": threshold}

    def _measure(
        self, extractor: saved.TorchExtractor, tellings: list[Telling], opened: Mask
    ) -> dict[str, float]:
        """`opened`: for which of the tellings the gate is open."""
        gold = _tells(tellings)
        rows = sample(np.flatnonzero(gold).tolist(), self.data.valid_limit, 0)
        sources = [tellings[row].utterance for row in rows]
        texts = extractor.write(sources)
        pairs = zip(texts, rows, strict=True)
        rouge = np.array([rouge_l(text, tellings[row].persona) for text, row in pairs])
        return {
            "f1": f1(opened, gold),
            "rouge_l": float(rouge.mean()),
            "rouge_l_gated": float((rouge * opened[rows]).mean()),
            "unsupported": unsupported_share(zip(texts, sources, strict=True)),
        }

    def save(self, folder: Path) -> None:
        saved.save(folder, self.model, self.card, self.tokenizer)


def _tells(tellings: list[Telling]) -> Mask:
    return np.array([bool(telling.persona) for telling in tellings])


def _check(data: ExtractorDataOptions) -> None:
    shares = data.gold_share
    if len(shares) != 2 or not all(0 <= share <= 1 for share in shares):
        raise AllearsError(
            f"recipe: data.gold_share is two numbers from 0 to 1, for the first and the last epoch; got {list(shares)}"
        )


def build_extractor(
    wanted: ExtractorModelOptions, lengths: Lengths, framing_price: float
) -> tuple[Extractor, saved.ExtractorCard, WordPiece]:
    """The extractor a recipe asks for, before training, with its tokenizer."""
    encoder, tokenizer, other = _encoder(wanted)
    options = {
        "layers": wanted.layers,
        "heads": wanted.heads,
        "inner": wanted.inner,
        "longest": lengths.persona_tokens,
        "dropout": wanted.dropout,
    }
    if encoder.size % wanted.heads:
        raise AllearsError(
            f"recipe: model.heads must divide the encoder's width of {encoder.size}, got {wanted.heads}"
        )
    card = saved.ExtractorCard(lengths, encoder.config, options, framing_price=framing_price)
    model = saved.build(card, encoder)
    if other is not None:
        load_alike(model, other)
    return model, card, tokenizer


def _encoder(wanted: ExtractorModelOptions) -> tuple[Encoder, WordPiece, Extractor | None]:
    if wanted.start and saved.is_extractor(wanted.start):
        extractor = saved.load(wanted.start)
        return extractor.model.encoder, extractor.tokenizer, extractor.model
    if wanted.start:
        from allears.models.reader import saved as reading
        from allears.models.selection import saved as selection

        loaded = reading.load if reading.is_reader(wanted.start) else selection.load
        return *encoder_of(loaded(wanted.start), wanted.start), None
    if wanted.encoder:
        return load_encoder(wanted.encoder), encoder_tokenizer(wanted.encoder), None
    raise AllearsError("recipe: [model] needs `encoder` (a hub name or a folder) or `start` (a run folder)")
