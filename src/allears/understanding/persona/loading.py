"""One way to open a persona extractor: a run folder now, the bundle that ships with allears once it carries one."""

from __future__ import annotations

from pathlib import Path

from allears.errors import AllearsError
from allears.understanding.persona.contract import PersonaExtractor
from allears.understanding.persona.copying import CopyingExtractor

DEFAULT, COPY = "default", "copy"
_TRAIN = "`allears train recipes/persona-extractor.toml`"


def load_extractor(name: str | Path, device: str = "cpu") -> PersonaExtractor:
    """`default`, the run folder of a trained extractor, or `copy`, the baseline that takes sentences as they are."""
    if str(name) == COPY:
        return CopyingExtractor()
    if str(name) == DEFAULT:
        raise AllearsError(
            f"this install carries no default persona extractor; name a run folder of {_TRAIN}, or 'copy'"
        )
    folder = Path(name)
    if not folder.is_dir():
        raise AllearsError(f"{name}: no such persona extractor; give a run folder of {_TRAIN}, or 'copy'")
    if (folder / "bundle.json").is_file():
        raise AllearsError(
            f"{folder}: this bundle carries no persona extractor; give a run folder of {_TRAIN}"
        )
    return _load_run(folder, device)


def _load_run(folder: Path, device: str) -> PersonaExtractor:
    try:
        import torch

        from allears.understanding.persona import saved
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("allears"):  # our own fault, not a missing install
            raise
        raise AllearsError(
            f"{folder}: a training run needs {error.name}, which is not installed; "
            'run pip install "allears[train]"'
        ) from error
    try:
        known = torch.device(device)
    except RuntimeError:
        raise AllearsError(f"unknown device {device!r}; give cpu or cuda") from None
    if known.type == "cuda" and not torch.cuda.is_available():
        raise AllearsError(f"--device {device} was asked for, but torch sees no GPU here")
    return saved.load(folder, device)
