"""Opening a training run with torch: the same way for every kind of model."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from allears.errors import AllearsError, needs


def load_run(folder: Path, device: str, module: str, *, otherwise: str = "") -> Any:
    """What `load` of a module such as "allears.models.selection.saved" makes of a folder, on a device that is there.

    `otherwise` ends the sentence for a light install: what else could be done.
    """
    with needs(f"{folder}: a training run", otherwise=otherwise):
        import torch

        saved = import_module(module)
    try:
        known = torch.device(device)
    except RuntimeError:
        raise AllearsError(f"unknown device {device!r}; give cpu or cuda") from None
    if known.type == "cuda" and not torch.cuda.is_available():
        raise AllearsError(f"--device {device} was asked for, but torch sees no GPU here")
    return saved.load(folder, device)
