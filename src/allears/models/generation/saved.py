"""A trained generator on disk: `model.json` (what it is), `model.safetensors` (its weights), its tokenizer's files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_model as load_shared
from safetensors.torch import save_model as save_shared
from torch import nn

from allears.errors import AllearsError
from allears.models.generation.empathetic_saved import EMPATHETIC_MODELS, load_empathetic
from allears.models.generation.hard_prompt import HardPrompt
from allears.models.generation.joint import Joint
from allears.models.generation.misc import MISC
from allears.models.generation.pal import PAL
from allears.models.generation.torch_generator import TorchGenerator
from allears.models.generation.writer import SmallDecoder
from allears.nn.encoder import Encoder, encoder_tokenizer
from allears.nn.weights import load_weights, save_model, write_text
from allears.runtime.runs import MODEL_FILE, best, is_kind, saved_card
from allears.text.layout import Limits

KIND = "generator"
MODELS: dict[str, type[Any]] = {"pal": PAL, "joint": Joint, "hard_prompt": HardPrompt, "misc": MISC}


@dataclass(frozen=True, slots=True)
class GeneratorCard:
    """Everything needed to build the generator again, and how it reads.

    `encoder` is its configuration; with `pretrained` the whole encoder-decoder's. `strategy_first`: every reply
    begins with its strategy; otherwise it may.
    """

    name: str  # of MODELS
    limits: Limits
    encoder: Mapping[str, Any]
    decoder: Mapping[str, Any] = field(default_factory=dict)  # of `SmallDecoder`: layers, heads, ...
    options: Mapping[str, Any] = field(default_factory=dict)  # of the model: PAL's mixture, MISC's source
    context_turns: int = 8
    strategy_first: bool = True
    pretrained: bool = False
    kind: str = KIND


def model_class(name: str) -> type[Any]:
    if name not in MODELS:
        raise AllearsError(f"there is no generator {name!r}; there are: {', '.join(MODELS)}")
    return MODELS[name]


def build(card: GeneratorCard, parts: tuple[Any, Any] | None = None) -> Any:
    """The model a card describes; with `parts` (an encoder and a decoder, or None for a new one), on those weights."""
    kind = model_class(card.name)
    try:
        if card.pretrained:
            from allears.models.generation import seq2seq

            encoder, decoder = parts or seq2seq.from_config(dict(card.encoder))
        else:
            encoder = parts[0] if parts else Encoder.from_config(dict(card.encoder))
            decoder = SmallDecoder(encoder, longest=card.limits.response_tokens, **card.decoder)
        model = kind(encoder, decoder, **card.options)
    except TypeError as error:
        raise AllearsError(f"the {card.name} generator cannot be built: {error}") from error
    return model


def save(folder: Path, model: nn.Module, card: GeneratorCard, tokenizer: Any) -> None:
    """Write a generator's folder; each file is complete or absent."""
    if not card.pretrained:
        save_model(folder, model, asdict(card), tokenizer)
        return
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(folder)
    write_text(folder / "model.json", json.dumps(asdict(card), indent=1, default=str) + "\n")
    temporary = folder / "model.safetensors.part"
    save_shared(model, str(temporary))  # its embeddings have several names and are kept once
    temporary.rename(folder / "model.safetensors")


def is_generator(folder: Path | str) -> bool:
    """Whether a run folder holds a generator."""
    return is_kind(folder, KIND)


def load(folder: Path | str, device: str = "cpu") -> Any:
    """The generator in a run folder (or in its `best/`)."""
    folder = best(folder)
    path = folder / MODEL_FILE
    try:
        saved = saved_card(folder, KIND, "generator; train one with recipes/esconv-pal.toml")
        if saved.get("name") in EMPATHETIC_MODELS:
            return load_empathetic(folder, saved, device)
        card = GeneratorCard(**(saved | {"limits": Limits(**saved["limits"])}))
        model = build(card)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise AllearsError(f"{path}: not a generator's card ({error})") from error
    if not card.pretrained:
        load_weights(folder / "model.safetensors", model)
        return TorchGenerator(model, card, encoder_tokenizer(folder), device=device)
    from allears.models.generation.seq2seq import PretrainedTokenizer

    try:
        load_shared(model, str(folder / "model.safetensors"))
    except (SafetensorError, OSError, RuntimeError) as error:
        detail = str(error).splitlines()[0]
        raise AllearsError(
            f"{folder / 'model.safetensors'}: the checkpoint is missing, corrupt or of another model ({detail})"
        ) from error
    return TorchGenerator(model, card, PretrainedTokenizer(folder), device=device)
