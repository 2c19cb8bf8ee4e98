"""A trained reader on disk: `model.json` (what it is), `model.safetensors` (its weights), `tokenizer.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from allears.errors import AllearsError
from allears.models.reader.reader import Reader
from allears.nn.encoder import Encoder, encoder_tokenizer
from allears.nn.inputs import Inputs
from allears.nn.weights import load_weights, save_model
from allears.runtime.answering import AnsweringReader, Answers
from allears.runtime.runs import best, described, is_kind
from allears.text.conversation_facts import Facts
from allears.text.layout import Limits, Tokens
from allears.text.tokenizer import WordPiece

KIND = "reader"


@dataclass(frozen=True, slots=True)
class ReaderCard:
    """Everything needed to build the reader again, and the temperature of every head."""

    heads: Mapping[str, Sequence[str]]  # name -> labels, in the order of the columns
    limits: Limits
    encoder: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)  # of `Reader`: hidden, pooling, ...
    temperatures: Mapping[str, float] = field(default_factory=dict)
    window: int = 1  # neighbouring tokens whose scores are averaged to say where
    left_out: str = ""  # the part of the train readings that it has not learned, and can teach about
    kind: str = KIND

    @property
    def multi_label(self) -> Sequence[str]:
        return tuple(self.options.get("multi_label", ()))

    @property
    def pointing(self) -> Sequence[str]:
        return tuple(self.options.get("rationales", ()))

    @property
    def informed(self) -> Sequence[str]:
        return tuple(self.options.get("informed", ()))


def build(card: ReaderCard, encoder: Encoder | None = None) -> Reader:
    """The reader a card describes; with `encoder` given, on top of those weights."""
    sizes = {name: len(labels) for name, labels in card.heads.items()}
    try:
        return Reader(encoder or Encoder.from_config(dict(card.encoder)), sizes, **card.options)
    except TypeError as error:
        raise AllearsError(f"the reader cannot be built: {error}") from error


def save(folder: Path, model: Reader, card: ReaderCard, tokenizer: WordPiece) -> None:
    """Write a reader's folder; each file is complete or absent."""
    save_model(folder, model, asdict(card), tokenizer)


def is_reader(folder: Path | str) -> bool:
    """Whether a run folder holds a reader (and not, say, a selection model)."""
    return is_kind(folder, KIND)


def load(folder: Path | str, device: str = "cpu") -> TorchReader:
    """The reader in a run folder (or in its `best/`)."""
    folder = best(folder)
    advice = "reader; train one with a recipe whose task is understanding"
    card, model = described(folder, KIND, advice, _described, "a reader")
    load_weights(folder / "model.safetensors", model)
    return TorchReader(model, card, encoder_tokenizer(folder), device=device)


def _described(saved: dict[str, Any]) -> tuple[ReaderCard, Reader]:
    card = ReaderCard(**(saved | {"limits": Limits(**saved["limits"])}))
    return card, build(card)


class TorchReader(AnsweringReader):
    """A reader on any torch device."""

    card: ReaderCard

    def __init__(self, model: Reader, card: ReaderCard, tokenizer: WordPiece, *, device: str = "cpu"):
        self.model, self.card, self.tokenizer, self.device = model.to(device), card, tokenizer, device

    @torch.inference_mode()
    def answer(
        self, tokens: Tokens, heads: Sequence[str] | None = None, facts: Facts | None = None
    ) -> Answers:
        self.model.eval()
        with torch.autocast("cuda", torch.bfloat16, enabled=str(self.device).startswith("cuda")):
            known = None if facts is None else torch.from_numpy(facts).to(self.device)
            output = self.model(Inputs.from_tokens(tokens).to(self.device), heads, known)
        return Answers(_arrays(output.logits), _arrays(output.rationales))


def _arrays(tensors: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    return {name: tensor.float().cpu().numpy() for name, tensor in tensors.items()}
