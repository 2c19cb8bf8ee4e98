"""How experiments are run here: in full or small, where things are kept, on which device, with how many seeds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from allears.errors import AllearsError

FULL_HOME, SMALL_HOME = Path("runs/experiments"), Path("runs/experiments-small")


@dataclass(frozen=True, slots=True)
class Setting:
    """`small`: tiny models, few sentences, few steps: shows that everything works, and nothing else."""

    small: bool = False
    home: Path = FULL_HOME  # runs, measurements, corpora made on the way
    root: Path | None = None  # of the corpora; None: ALLEARS_DATA
    device: str = "cpu"
    seeds: int = 1
    encoder: str = ""  # in place of the recipes' pretrained encoder; in a small setting a tiny one is made
    vectors: str = ""  # in place of the recipes' file of word vectors
    ready: bool = False  # nothing is trained, measured or made: what is there must do
    study: Path | None = None  # what `allears study export` wrote, for tables of people's judgements
    repository: Path = Path()  # where recipes/ and benchmarks/ are

    @property
    def limit(self) -> int | None:
        """How many examples are measured; None: all."""
        return 24 if self.small else None

    @property
    def candidates(self) -> int:
        return 20 if self.small else 100

    @property
    def all_seeds(self) -> range:
        return range(1, self.seeds + 1)

    def recipe(self, name: str) -> Path:
        return self.repository / "recipes" / f"{name}.toml"


def find_repository() -> Path:
    """The checkout: recipes and benchmarks are not in the wheel."""
    here = Path(__file__).resolve().parents[3]
    for folder in (Path(), here):
        if (folder / "recipes").is_dir():
            return folder
    raise AllearsError(
        "experiments need the folder recipes/ of the source tree; run this in a checkout of allears"
    )


def default_encoder() -> str:
    return os.environ.get("ALLEARS_ENCODER", "")
