"""One way to open a persona extractor: a run folder, a bundle folder, or the bundle that ships with allears."""

from __future__ import annotations

from pathlib import Path

from allears.errors import AllearsError
from allears.models.runs import load_run
from allears.personas.contract import PersonaExtractor
from allears.personas.copying import CopyingExtractor

DEFAULT, COPY = "default", "copy"
_TRAIN = "`allears train recipes/persona-extractor.toml`"


def load_extractor(name: str | Path, device: str = "cpu") -> PersonaExtractor:
    """`default`, a bundle or run folder with a trained extractor, or `copy`, which takes sentences as they are.

    Nothing else is put in the place of what was asked for: where `default` carries no extractor, that is said.
    """
    if str(name) == COPY:
        return CopyingExtractor()
    if str(name) == DEFAULT:
        from allears.runtime.bundle import default_bundle

        folder = default_bundle()
    else:
        folder = Path(name)
    if not folder.is_dir():
        raise AllearsError(f"{name}: no such persona extractor; give a run folder of {_TRAIN}, or 'copy'")
    if (folder / "bundle.json").is_file():
        return _load_bundle(folder, str(name), device)
    extractor: PersonaExtractor = load_run(
        folder, device, "allears.models.extractor.saved", otherwise=", or name an exported bundle"
    )
    return extractor


def _load_bundle(folder: Path, name: str, device: str) -> PersonaExtractor:
    from allears.runtime.bundle import BundleCard
    from allears.runtime.extractor_card import has_extractor

    if not has_extractor(BundleCard.read(folder)):
        where = (
            "this install carries no default persona extractor"
            if name == DEFAULT
            else f"{folder}: this bundle carries no persona extractor"
        )
        raise AllearsError(f"{where}; name a run folder of {_TRAIN}, a bundle that has one, or 'copy'")
    if device != "cpu":
        raise AllearsError(f"{folder}: an ONNX bundle runs on the CPU; leave out --device {device}")
    from allears.runtime.onnx_extractor import OnnxExtractor

    return OnnxExtractor.from_bundle(folder)
