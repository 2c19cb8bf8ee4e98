"""One way to open a generator: a run folder, or the bundle that ships with allears."""

from __future__ import annotations

from pathlib import Path

from allears.errors import AllearsError
from allears.generation.contract import Generator
from allears.nn.runs import load_run

DEFAULT = "default"
_TRAIN = "`allears train recipes/generator-pretrain.toml recipes/esconv-pal.toml`"


def load_generator(name: str | Path, device: str = "cpu") -> Generator:
    """A run folder with a trained generator. Nothing else is put in the place of what was asked for."""
    if str(name) == DEFAULT:
        raise AllearsError(f"this install carries no default generator; name a run folder of {_TRAIN}")
    folder = Path(name)
    if not folder.is_dir():
        raise AllearsError(f"{name}: no such generator; give a run folder of {_TRAIN}")
    if (folder / "bundle.json").is_file():
        raise AllearsError(f"{folder}: this bundle carries no generator; name a run folder of {_TRAIN}")
    generator: Generator = load_run(folder, device, "allears.generation.saved")
    return generator
