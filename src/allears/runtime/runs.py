"""What lies in a training run's folder: the same questions for every kind of model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from allears.errors import AllearsError

MODEL_FILE = "model.json"
Made = TypeVar("Made")


def best(folder: Path | str) -> Path:
    """Where a run's model is: in its `best/`, or the folder itself."""
    folder = Path(folder)
    return folder / "best" if (folder / "best" / MODEL_FILE).is_file() else folder


def saved_card(folder: Path, kind: str, otherwise: str) -> Any:
    """What the card in a model's folder says; `otherwise` tells whoever gave another kind of model what to do.

    What is no JSON object raises ValueError or AttributeError, for the caller to name the card it wanted.
    """
    path = folder / MODEL_FILE
    if not path.is_file():
        raise AllearsError(f"{folder}: no model.json here; give the folder of a finished `allears train`")
    saved = json.loads(path.read_text(encoding="utf-8"))
    if saved.get("kind") != kind:
        raise AllearsError(f"{path}: this is no {otherwise}")
    return saved


def described(folder: Path, kind: str, otherwise: str, build: Callable[[Any], Made], name: str) -> Made:
    """What `build` makes of the card in a model's folder. `name` is the card's, where it is not as it should be."""
    try:
        return build(saved_card(folder, kind, otherwise))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise AllearsError(f"{folder / MODEL_FILE}: not {name}'s card ({error})") from error


def is_kind(folder: Path | str, kind: str) -> bool:
    """Whether a run folder holds a model whose card names this kind."""
    try:
        return bool(json.loads((best(folder) / MODEL_FILE).read_text(encoding="utf-8"))["kind"] == kind)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def joint_parts(folder: Path | str) -> dict[str, Path]:
    """The models that a joint run has trained, by their parts' names; none in the folder of any other run."""
    folder = best(folder)
    if (folder / MODEL_FILE).is_file():
        return {}
    inside = folder / "best" if (folder / "best").is_dir() else folder
    return {path.parent.name: path.parent for path in sorted(inside.glob(f"*/{MODEL_FILE}"))}
