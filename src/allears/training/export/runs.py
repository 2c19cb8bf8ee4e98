"""A bundle from the folders of trained runs: what `allears export` does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allears.errors import AllearsError
from allears.models.extractor import saved as extractors
from allears.models.generation import saved as voices
from allears.models.reader import saved as readers
from allears.models.selection import saved as rankers
from allears.runtime.bundle import CARD_FILE, BundleCard
from allears.training.export.bundle import add_to_copy, export_together, parts_of


@dataclass(frozen=True, slots=True)
class PartRuns:
    """The runs of what goes into a bundle beside its ranker."""

    reader: Path | None = None
    extractor: Path | None = None
    voice: Path | None = None
    screen: Path | None = None

    def load(self, joint: dict[str, Path]) -> dict[str, Any]:
        """Their models; a joint run brings a reader and an extractor of its own where none is named."""
        reader, extractor = self.reader or joint.get("reader"), self.extractor or joint.get("extractor")
        return {
            "reader": None if reader is None else readers.load(reader),
            "extractor": None if extractor is None else extractors.load(extractor),
            "voice": None if self.voice is None else voices.load(self.voice),
            "screen": None if self.screen is None else readers.load(self.screen),
        }


def export_run(
    run: Path,
    out: Path,
    runs: PartRuns,
    *,
    precision: str = "int8",
    keep_float: Sequence[str] = (),
    base: Path | None = None,
    rank: int = 32,
    metrics: Path | None = None,
) -> BundleCard:
    """Export a ranker's or a joint run with further parts to `out`, or add the parts to a bundle."""
    measured = {} if metrics is None else _read_metrics(metrics)
    if not (run / CARD_FILE).is_file():
        parts = parts_of(run)
        beside = runs.load(parts)
        return export_together(
            rankers.load(parts["ranker"]),
            out,
            **beside,
            precision=precision,
            metrics=measured,
            keep_float=keep_float,
            base=None if base is None else rankers.load(base),
            rank=rank,
        )
    beside = runs.load({})
    if base is not None or keep_float or measured or precision != "int8":
        raise AllearsError(
            f"{run}: this is a bundle already, so --base, --precision, --keep-float and --metrics have no use; "
            "leave them out, or give the ranker's run"
        )
    return add_to_copy(run, out, **beside)


def _read_metrics(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AllearsError(f"{path}: cannot be read as JSON ({error})") from error
    if not isinstance(found, dict):
        raise AllearsError(f"{path}: expected a JSON object of metrics")
    return found
