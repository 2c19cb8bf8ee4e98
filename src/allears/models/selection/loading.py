"""One way to open a trained selection model: a run folder, a bundle folder, or the one that ships with us."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from allears.errors import AllearsError
from allears.models.runs import load_run
from allears.models.selection.ensemble import SelectorEnsemble
from allears.runtime.bundle import folder_of


def load_selector(name: str | Path, device: str = "cpu", *, persona_sentences: int | None = None) -> Any:
    """A `Selector` by name: `default`, a folder with `bundle.json` (ONNX), a run folder (torch), or several of them
    joined by `+`: an ensemble.

    `persona_sentences` raises the number of persona sentences the model reads when it would read fewer.
    """
    if "+" in str(name) and not Path(name).exists():
        parts = str(name).split("+")
        return SelectorEnsemble(
            [load_selector(part, device, persona_sentences=persona_sentences) for part in parts]
        )
    folder = folder_of(name)
    if not folder.is_dir():
        raise AllearsError(f"{name}: no such model; give a run folder, a bundle folder, or 'default'")
    selector = (
        _load_bundle(folder, device)
        if (folder / "bundle.json").is_file()
        else load_run(
            folder, device, "allears.models.selection.saved", otherwise=", or name an exported bundle"
        )
    )
    return _allow_persona(selector, persona_sentences)


def _load_bundle(folder: Path, device: str) -> Any:
    if device != "cpu":
        raise AllearsError(f"{folder}: an ONNX bundle runs on the CPU; leave out --device {device}")
    from allears.runtime.onnx_selector import OnnxSelector

    return OnnxSelector.from_bundle(folder)


def _allow_persona(selector: Any, sentences: int | None) -> Any:
    """Read at least this many persona sentences; else a count above the model's own is cut silently."""
    card = getattr(selector, "card", None)  # where a torch run keeps its limits; a bundle has them itself
    limits = selector.limits if card is None else card.limits
    if sentences is None or sentences <= limits.persona_sentences:
        return selector
    wider = replace(limits, persona_sentences=sentences)
    if card is None:
        selector.limits = wider
    else:
        selector.card = replace(card, limits=wider)
    return selector
