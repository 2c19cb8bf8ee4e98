"""Weights and small texts on disk: safetensors, never pickle; each file is whole or absent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from allears.errors import AllearsError
from allears.nn.low_rank import plain_weights
from allears.text.tokenizer import WordPiece


def save_weights(path: Path, model: nn.Module) -> None:
    """Weights to safetensors by way of a temporary file: a kill never leaves half a checkpoint."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in plain_weights(model).items()}
    temporary = path.with_name(path.name + ".part")
    save_file(tensors, temporary)
    temporary.rename(path)


def save_model(folder: Path, model: nn.Module, card: Mapping[str, Any], tokenizer: WordPiece) -> None:
    """A model's folder: `tokenizer.json`, `model.json` (its card), `model.safetensors`; each is complete or absent."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.backend.save(str(folder / "tokenizer.json"))
    write_text(folder / "model.json", json.dumps(card, indent=1, default=str) + "\n")
    save_weights(folder / "model.safetensors", model)


def load_alike(model: nn.Module, other: nn.Module) -> None:
    """Go on with those of the other's weights whose names and shapes are the model's too; a model that takes them
    elsewhere says so itself (`taken`)."""
    mine, others = model.state_dict(), other.state_dict()
    taken = getattr(model, "taken", None)
    if taken is not None:
        others = taken(others)
    alike = {key: value for key, value in others.items() if key in mine and mine[key].shape == value.shape}
    model.load_state_dict(alike, strict=False)


def load_weights(path: Path, model: nn.Module) -> None:
    """Weights from safetensors; a corrupt or foreign file is one clear sentence."""
    try:
        model.load_state_dict(load_file(path))
    except FileNotFoundError:
        raise AllearsError(f"{path}: no such checkpoint") from None
    except (SafetensorError, OSError) as error:
        raise AllearsError(
            f"{path}: the checkpoint is corrupt ({error}); train again or restore it"
        ) from error
    except RuntimeError as error:
        detail = str(error).splitlines()[-1].strip()
        raise AllearsError(f"{path}: the checkpoint is of another model ({detail})") from error


def weights_digest(model: nn.Module) -> str:
    """The same for the same weights, in whatever precision they were kept: rounded to float16, by name."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {list(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().half().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def write_text(path: Path, text: str) -> None:
    """A text by way of a temporary file."""
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(text, encoding="utf-8")
    temporary.rename(path)
