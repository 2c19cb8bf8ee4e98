"""One way to open a persona extractor: a run folder now, the bundle that ships with allears once it carries one."""

from __future__ import annotations

from pathlib import Path

from allears.errors import AllearsError
from allears.nn.runs import load_run
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
    extractor: PersonaExtractor = load_run(folder, device, "allears.understanding.persona.saved")
    return extractor
