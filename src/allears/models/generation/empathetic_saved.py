"""An empathetic generator on disk: `model.json`, `model.safetensors`, and its words (`vocabulary.txt`) or tokenizer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from torch import nn

from allears.errors import AllearsError
from allears.models.generation.empathetic import EmpatheticModel
from allears.models.generation.empathetic_data import EMOTION_SETS, EmpatheticLayout
from allears.models.generation.prepend import Prepend
from allears.nn.encoder import Encoder, encoder_tokenizer
from allears.nn.weights import load_weights, save_weights, write_text
from allears.text.layout import Limits
from allears.text.paper_words import paper_words
from allears.text.tokenizer import WordPiece, WordVocabulary

KIND = "generator"
# name in a recipe -> module:class
EMPATHETIC_MODELS = {
    "transformer": "transformer:Transformer",
    "multitask": "multitask:Multitask",
    "ensemble": "ensemble:Ensemble",
    "moel": "moel:MoEL",
    "modmoel": "modmoel:ModMoEL",
    "mime": "mime:MIME",
}


@dataclass(frozen=True, slots=True)
class EmpatheticCard:
    """Everything needed to build the generator again, and how it reads."""

    name: str  # of EMPATHETIC_MODELS
    limits: Limits
    vocabulary: int  # words or word pieces
    emotions: int = 32  # or 16
    options: Mapping[str, Any] = field(default_factory=dict)  # of the model
    encoder: Mapping[str, Any] | None = None  # a pretrained encoder's configuration, where it reads with one
    context_turns: int = 8
    prepend: Mapping[str, Any] | None = None  # kind, count, classifier
    beside: str = ""  # the bundle of a frozen encoder that reads beside the model
    kind: str = KIND

    def layout(self, prepend: Prepend | None = None) -> EmpatheticLayout:
        persona = empathetic_class(self.name).reads_persona
        wanted = self.options.get("persona", persona) not in (False, "none")
        return EmpatheticLayout(self.limits, self.emotions, self.context_turns, persona and wanted, prepend)


def empathetic_class(name: str) -> type[EmpatheticModel]:
    where = EMPATHETIC_MODELS.get(name)
    if where is None:
        raise AllearsError(
            f"there is no empathetic generator {name!r}; there are: {', '.join(EMPATHETIC_MODELS)}"
        )
    module, _, attribute = where.partition(":")
    found: type[EmpatheticModel] = getattr(import_module(f"allears.models.generation.{module}"), attribute)
    return found


def build_empathetic(card: EmpatheticCard, encoder: Encoder | None = None) -> EmpatheticModel:
    """The model a card describes; with `encoder`, reading with those weights."""
    if card.emotions not in EMOTION_SETS:
        raise AllearsError(
            f"recipe: model.emotions is one of {', '.join(map(str, EMOTION_SETS))}; got {card.emotions}"
        )
    if encoder is None and card.encoder is not None:
        encoder = Encoder.from_config(dict(card.encoder))
    try:
        return empathetic_class(card.name)(
            card.vocabulary, emotions=card.emotions, encoder=encoder, **card.options
        )
    except (TypeError, ValueError) as error:
        raise AllearsError(f"the {card.name} generator cannot be built: {error}") from error


def save_empathetic(
    folder: Path, model: nn.Module, card: EmpatheticCard, tokenizer: Any, prepend: Prepend | None = None
) -> None:
    """Write a generator's folder; each file is complete or absent."""
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(tokenizer, WordPiece):
        tokenizer.backend.save(str(folder / "tokenizer.json"))
    else:
        write_text(folder / "vocabulary.txt", "\n".join(tokenizer.words_) + "\n")
    if prepend is not None:
        prepend.save(folder)
    write_text(folder / "model.json", json.dumps(asdict(card), indent=1, default=str) + "\n")
    save_weights(folder / "model.safetensors", model)


def load_empathetic(folder: Path, saved: Mapping[str, Any], device: str = "cpu") -> Any:
    """From a run's folder whose card says `saved`."""
    from allears.models.generation.empathetic_generator import EmpatheticGenerator

    card = EmpatheticCard(**{**saved, "limits": Limits(**saved["limits"])})
    model = build_empathetic(card)
    load_weights(folder / "model.safetensors", model)
    prepend = Prepend.build(**card.prepend, folder=folder) if card.prepend is not None else None
    return EmpatheticGenerator(model, card, saved_tokenizer(folder), prepend=prepend, device=device)


def saved_tokenizer(folder: Path) -> WordVocabulary | WordPiece:
    """The words of a run's folder, or its tokenizer."""
    if not (folder / "vocabulary.txt").is_file():
        return encoder_tokenizer(folder)
    lines = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
    return word_vocabulary().restore(lines)


def word_vocabulary(*, minimum_count: int = 1, maximum_size: int = 40_000) -> WordVocabulary:
    """Words as the papers cut them."""
    return WordVocabulary(minimum_count=minimum_count, maximum_size=maximum_size, split=paper_words)
