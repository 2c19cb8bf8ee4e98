"""A training run's folder, opened or looked at: the same questions for every kind of model; no torch by itself."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from allears.errors import AllearsError

MODEL_FILE = "model.json"


def load_run(folder: Path, device: str, module: str, *, otherwise: str = "") -> Any:
    """What `load` of a module such as "allears.selection.saved" makes of a folder, on a device that is there.

    `otherwise` ends the sentence for a light install: what else could be done.
    """
    try:
        import torch

        saved = import_module(module)
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("allears"):  # our own fault, not a missing install
            raise
        raise AllearsError(
            f"{folder}: a training run needs {error.name}, which is not installed; "
            f'run pip install "allears[train]"{otherwise}'
        ) from error
    try:
        known = torch.device(device)
    except RuntimeError:
        raise AllearsError(f"unknown device {device!r}; give cpu or cuda") from None
    if known.type == "cuda" and not torch.cuda.is_available():
        raise AllearsError(f"--device {device} was asked for, but torch sees no GPU here")
    return saved.load(folder, device)


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
