"""What every measurement of a model is told, whatever is measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from allears.progress import Watch, unwatched


@dataclass(frozen=True, slots=True)
class EvaluationSetting:
    """Which part of a corpus, how much of it, where it is computed, and who watches."""

    split: str = "valid"
    root: Path | None = None
    limit: int | None = None
    seed: int = 0
    device: str = "cpu"
    watch: Watch = unwatched
