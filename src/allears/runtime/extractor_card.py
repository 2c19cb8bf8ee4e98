"""A persona extractor in a bundle: `extractor.json`, what it is, and three graphs on the encoder's states.

extractor_gate.onnx     does this text tell something about the person?
extractor_memory.onnx   what its decoder reads of a text, computed once
extractor_step.onnx     one more word, with a cache of keys and values

Their word table is the encoder's: it lies in the encoder's files, and these graphs say where.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allears.personas.lengths import Lengths
from allears.runtime.bundle import BundleCard, read_part, write_part

FORMAT = 1
EXTRACTOR_CARD_FILE = "extractor.json"
GATE_FILE = "extractor_gate.onnx"
MEMORY_FILE = "extractor_memory.onnx"
STEP_FILE = "extractor_step.onnx"
EXTRACTOR_FILES = (EXTRACTOR_CARD_FILE, GATE_FILE, MEMORY_FILE, STEP_FILE)


@dataclass(frozen=True, slots=True)
class BundledExtractorCard:
    """What `extractor.json` says."""

    lengths: Lengths
    size: int  # of a token's state
    vocabulary: int  # words that can be written
    start: int  # the token that asks for persona sentences
    layers: int
    heads: int
    threshold: float  # of the gate's probability
    framing_price: float  # of a framing word that was not said, in nats
    format: int = FORMAT

    def __post_init__(self) -> None:
        if min(self.size, self.vocabulary, self.layers, self.heads) < 1 or self.size % self.heads:
            raise ValueError(f"{self.layers} layers of {self.heads} heads do not share {self.size} numbers")
        if not (self.threshold >= 0 and self.framing_price >= 0):
            raise ValueError("threshold and framing_price must be numbers from 0 on")

    def write(self, folder: Path) -> None:
        write_part(folder / EXTRACTOR_CARD_FILE, self)

    @classmethod
    def read(cls, folder: Path) -> BundledExtractorCard:
        return read_part(folder / EXTRACTOR_CARD_FILE, FORMAT, cls._of, "a persona extractor")

    @classmethod
    def _of(cls, saved: dict[str, Any]) -> BundledExtractorCard:
        return cls(**saved | {"lengths": Lengths(**saved["lengths"])})


def has_extractor(card: BundleCard) -> bool:
    """Whether a bundle carries a persona extractor."""
    return card.has(EXTRACTOR_FILES)


def extractor_files(card: BundleCard) -> list[str]:
    """The files of a bundle that belong to its extractor, the graphs' weights included."""
    return card.files_of(EXTRACTOR_CARD_FILE, (GATE_FILE, MEMORY_FILE, STEP_FILE))
