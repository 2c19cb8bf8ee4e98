"""A trained reader on disk: `model.json` (what it is), `model.safetensors` (its weights), `tokenizer.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from allears.conversation import Turn
from allears.errors import AllearsError
from allears.metrics.classification import token_f1
from allears.nn.encoder import Encoder, encoder_tokenizer
from allears.nn.weights import load_weights, save_weights, write_text
from allears.text.layout import Limits
from allears.text.tokenizer import WordPiece
from allears.understanding.calibration import probabilities
from allears.understanding.classifier import Probabilities
from allears.understanding.dataset import ReadingDataset
from allears.understanding.heads import Head
from allears.understanding.heads import head as head_named
from allears.understanding.reader import Reader
from allears.understanding.reading import Reading

KIND = "reader"
BATCH = 64


@dataclass(frozen=True, slots=True)
class ReaderCard:
    """Everything needed to build the reader again, and the temperature of every head."""

    heads: Mapping[str, Sequence[str]]  # name -> labels, in the order of the columns
    limits: Limits
    encoder: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)  # of `Reader`: hidden, pooling, ...
    temperatures: Mapping[str, float] = field(default_factory=dict)
    kind: str = KIND


def build(card: ReaderCard, encoder: Encoder | None = None) -> Reader:
    """The reader a card describes; with `encoder` given, on top of those weights."""
    sizes = {name: len(labels) for name, labels in card.heads.items()}
    try:
        return Reader(encoder or Encoder.from_config(dict(card.encoder)), sizes, **card.options)
    except TypeError as error:
        raise AllearsError(f"the reader cannot be built: {error}") from error


def save(folder: Path, model: Reader, card: ReaderCard, tokenizer: WordPiece) -> None:
    """Write a reader's folder; each file is complete or absent."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.backend.save(str(folder / "tokenizer.json"))
    write_text(folder / "model.json", json.dumps(asdict(card), indent=1, default=str) + "\n")
    save_weights(folder / "model.safetensors", model)


def is_reader(folder: Path | str) -> bool:
    """Whether a run folder holds a reader (and not, say, a selection model)."""
    try:
        return json.loads((_best(Path(folder)) / "model.json").read_text(encoding="utf-8"))["kind"] == KIND
    except (OSError, ValueError, KeyError, TypeError):
        return False


def load(folder: Path | str, device: str = "cpu") -> TorchReader:
    """The reader in a run folder (or in its `best/`)."""
    folder = _best(Path(folder))
    path = folder / "model.json"
    if not path.is_file():
        raise AllearsError(f"{folder}: no model.json here; give the folder of a finished `allears train`")
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        if saved.get("kind") != KIND:
            raise AllearsError(
                f"{path}: this is no reader; train one with a recipe whose task is understanding"
            )
        card = ReaderCard(**(saved | {"limits": Limits(**saved["limits"])}))
        model = build(card)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise AllearsError(f"{path}: not a reader's card ({error})") from error
    load_weights(folder / "model.safetensors", model)
    return TorchReader(model, card, encoder_tokenizer(folder), device=device)


def _best(folder: Path) -> Path:
    return folder / "best" if (folder / "best" / "model.json").is_file() else folder


class TorchReader:
    """A reader with its tokenizer and temperatures, on any torch device."""

    def __init__(self, model: Reader, card: ReaderCard, tokenizer: WordPiece, *, device: str = "cpu"):
        self.model, self.card, self.tokenizer, self.device = model.to(device), card, tokenizer, device

    @torch.inference_mode()
    def logits(self, name: str, readings: Sequence[Reading], *, batch: int = BATCH) -> np.ndarray:
        """[N, labels] of one head, before its temperature."""
        data = ReadingDataset(_without_labels(readings), (), self.tokenizer, self.card.limits)
        found = np.zeros((len(readings), len(self.card.heads[name])), np.float32)
        self.model.eval()
        for rows in data.parts(batch):
            with self._autocast():
                output = self.model(data.inputs(rows).to(self.device), [name])
            found[rows] = output.logits[name].float().cpu().numpy()
        return found

    def probabilities(self, head: Head, readings: Sequence[Reading]) -> Probabilities:
        """[N, labels], calibrated. A head that was not trained is answered by its base, where that was."""
        name = head.name if head.name in self.card.heads else head.base
        if name not in self.card.heads:
            raise AllearsError(
                f"this reader was not trained for the head {head.name}; it has {', '.join(self.card.heads)}"
            )
        if tuple(self.card.heads[name]) != head_named(name).labels:
            raise AllearsError(
                f"this reader's head {name} gives other labels than this version of allears; train it again"
            )
        found = self.calibrated(name, self.logits(name, readings))
        return found if name == head.name else head.from_base(found)

    @torch.inference_mode()
    def read(self, turns: Sequence[Turn], *, k: int = 3) -> dict[str, list[tuple[str, float]]]:
        """Every head's k likeliest labels of what was said, from one pass of the encoder."""
        data = ReadingDataset([Reading(tuple(turns))], (), self.tokenizer, self.card.limits)
        self.model.eval()
        with self._autocast():
            output = self.model(data.inputs([0]).to(self.device))
        answers = {}
        for name, logits in output.logits.items():
            likely = self.calibrated(name, logits.float().cpu().numpy())[0]
            best = np.argsort(-likely, kind="stable")[:k]
            answers[name] = [(self.card.heads[name][column], float(likely[column])) for column in best]
        return answers

    @torch.inference_mode()
    def rationale_scores(self, head: Head, readings: Sequence[Reading]) -> np.ndarray:
        """[N]: F1 of the tokens pointed at against those of the gold rationales, per reading."""
        if head.name not in self.model.pointers:
            raise AllearsError(f"this reader was not trained to point at the rationales of {head.name}")
        asked = [Reading(reading.turns, rationales=reading.rationales) for reading in readings]
        data = ReadingDataset(asked, (), self.tokenizer, self.card.limits, rationales=True)
        found = np.zeros(len(readings))
        self.model.eval()
        for rows in data.parts(BATCH):
            with self._autocast():
                output = self.model(data.inputs(rows).to(self.device), [head.name])
            pointed = (output.rationales[head.name].float().cpu() > 0).numpy()
            for row, said, marks in zip(rows, pointed, data.marks_of(rows).numpy(), strict=True):
                found[row] = token_f1(marks[marks >= 0], said[marks >= 0])
        return found

    @torch.inference_mode()
    def rationales(self, name: str, reading: Reading, *, threshold: float = 0.5) -> list[str]:
        """The parts of the last turn that show what the head says, as they are written there."""
        text = reading.turns[-1].text
        offsets = self.tokenizer.offsets(text)
        data = ReadingDataset(
            _without_labels([reading]), (), self.tokenizer, self.card.limits, rationales=True
        )
        self.model.eval()
        with self._autocast():
            pointed = self.model(data.inputs([0]).to(self.device), [name]).rationales[name][0]
        asked = data.marks_of([0])[0] >= 0
        chosen = (pointed.float().cpu()[asked].sigmoid() > threshold).tolist()
        limits = self.card.limits
        read = min(len(offsets), limits.turn_tokens if len(reading.turns) > 1 else limits.first_turn_tokens)
        spans: list[tuple[int, int]] = []
        last = -2
        for position, (begin, end) in enumerate(offsets[read - len(chosen) : read]):
            if not chosen[position]:
                continue
            goes_on = position == last + 1
            spans.append((spans.pop()[0] if goes_on else begin, end))
            last = position
        return [text[begin:end] for begin, end in spans]

    def calibrated(self, name: str, logits: np.ndarray) -> Probabilities:
        return probabilities(
            logits,
            temperature=self.card.temperatures.get(name, 1.0),
            multi_label=name in self.card.options.get("multi_label", ()),
        )

    def _autocast(self) -> Any:
        return torch.autocast("cuda", torch.bfloat16, enabled=str(self.device).startswith("cuda"))


def _without_labels(readings: Sequence[Reading]) -> list[Reading]:
    """What is read, without what is known: a model never sees the labels."""
    return [Reading(reading.turns) for reading in readings]
