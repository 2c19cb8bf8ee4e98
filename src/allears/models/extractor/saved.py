"""A trained extractor on disk: `model.json` (what it is), `model.safetensors` (its weights), `tokenizer.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from allears.errors import AllearsError
from allears.models.extractor.model import Extractor
from allears.nn.encoder import Encoder, encoder_tokenizer
from allears.nn.inputs import Inputs
from allears.nn.weights import load_weights, save_model
from allears.personas.constraint import Lexicon
from allears.personas.lengths import Lengths, utterance_rows
from allears.personas.writing import WritingExtractor
from allears.runtime.runs import best, described, is_kind
from allears.text.layout import pad_flat
from allears.text.tokenizer import WordPiece

KIND = "persona-extractor"
BATCH = 64


@dataclass(frozen=True, slots=True)
class ExtractorCard:
    """Everything needed to build the extractor again, and how it decides and writes."""

    lengths: Lengths
    encoder: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)  # of `Extractor`: layers, heads, ...
    threshold: float = 0.5  # of the gate's probability
    framing_price: float = 2.0  # of a framing word that was not said, in nats
    kind: str = KIND


def build(card: ExtractorCard, encoder: Encoder | None = None) -> Extractor:
    """The extractor a card describes; with `encoder` given, on top of those weights."""
    try:
        return Extractor(encoder or Encoder.from_config(dict(card.encoder)), **card.options)
    except TypeError as error:
        raise AllearsError(f"the persona extractor cannot be built: {error}") from error


def save(folder: Path, model: Extractor, card: ExtractorCard, tokenizer: WordPiece) -> None:
    """Write an extractor's folder; each file is complete or absent."""
    save_model(folder, model, asdict(card), tokenizer)


def is_extractor(folder: Path | str) -> bool:
    """Whether a run folder holds a persona extractor."""
    return is_kind(folder, KIND)


def load(folder: Path | str, device: str = "cpu", *, beam: int = 1) -> TorchExtractor:
    """The extractor in a run folder (or in its `best/`); a `beam` of 1 is greedy."""
    folder = best(folder)
    advice = "persona extractor; train one with recipes/persona-extractor.toml"
    card, model = described(folder, KIND, advice, _described, "a persona extractor")
    load_weights(folder / "model.safetensors", model)
    return TorchExtractor(model, card, encoder_tokenizer(folder), device=device, beam=beam)


def _described(saved: dict[str, Any]) -> tuple[ExtractorCard, Extractor]:
    card = ExtractorCard(**(saved | {"lengths": Lengths(**saved["lengths"])}))
    return card, build(card)


class TorchExtractor(WritingExtractor):
    """An extractor with its tokenizer and threshold, on any torch device: a `PersonaExtractor`."""

    card: ExtractorCard

    def __init__(
        self,
        model: Extractor,
        card: ExtractorCard,
        tokenizer: WordPiece,
        *,
        device: str = "cpu",
        beam: int = 1,
        lexicon: Lexicon | None = None,
    ):
        self.model, self.card, self.tokenizer, self.device = model.to(device), card, tokenizer, device
        self.beam, self.lexicon = beam, lexicon or Lexicon(tokenizer, model.decoder.vocabulary)

    def told(self, parts: Sequence[str]) -> list[str]:
        chosen = np.flatnonzero(self.tells(parts) >= self.card.threshold).tolist()
        found = [""] * len(parts)
        for place, text in zip(chosen, self.write([parts[place] for place in chosen]), strict=True):
            found[place] = text
        return found

    @torch.inference_mode()
    def tells(self, utterances: Sequence[str]) -> npt.NDArray[np.float64]:
        """[N]: how likely each utterance tells something about the person who said it."""
        found = np.zeros(len(utterances))
        for rows, inputs in self._batches(utterances):
            with self._autocast():
                gate, _ = self.model.read(inputs)
            found[rows] = gate.float().sigmoid().cpu().numpy()
        return found

    @torch.inference_mode()
    def write(self, utterances: Sequence[str]) -> list[str]:
        """What each utterance tells, as one text, taking for granted that it tells something."""
        found = [""] * len(utterances)
        for rows, inputs in self._batches(utterances):
            for row, text in zip(rows, self._search([utterances[row] for row in rows], inputs), strict=True):
                found[row] = text
        return found

    def _search(self, utterances: Sequence[str], inputs: Inputs) -> list[str]:
        with self._autocast():
            _, states = self.model.read(inputs)
            state = self.model.start(inputs, states)
            task = self.model.decoder.task_token("persona")
            start = torch.full((len(utterances),), task, device=inputs.ids.device)
            return self.search(self.model.step, state, start, utterances, self.lexicon)

    def _batches(self, utterances: Sequence[str]) -> list[tuple[list[int], Inputs]]:
        """All utterances, shortest first, so that a batch needs hardly any padding."""
        self.model.eval()
        rows = utterance_rows(utterances, self.tokenizer, self.card.lengths)
        order = sorted(range(len(rows)), key=lambda row: len(rows[row][0]))
        parts = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
        return [
            (
                part,
                Inputs.from_tokens(pad_flat([rows[row] for row in part], self.tokenizer.pad)).to(self.device),
            )
            for part in parts
        ]

    def _autocast(self) -> Any:
        return torch.autocast("cuda", torch.bfloat16, enabled=str(self.device).startswith("cuda"))
