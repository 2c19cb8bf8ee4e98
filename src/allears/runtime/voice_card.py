"""A generator in a bundle: `voice.json`, what it is, and its graphs on the encoder's states.

voice_mix.onnx          PAL only: what the decoder reads of dialogue and persona together (equations 2 to 4)
voice_memory.onnx       what its decoder reads of that at every step, computed once
voice_step.onnx         one more word, with a cache of keys and values

Their word table is the encoder's: it lies in the encoder's files, and these graphs say where.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allears.runtime.bundle import BundleCard, read_part, write_part
from allears.runtime.generator import STRATEGIES
from allears.runtime.prompt_layout import PersonaPlace
from allears.text.layout import Limits

FORMAT = 1
VOICE_CARD_FILE = "voice.json"
MIX_FILE = "voice_mix.onnx"
MEMORY_FILE = "voice_memory.onnx"
STEP_FILE = "voice_step.onnx"
VOICE_FILES = (VOICE_CARD_FILE, MEMORY_FILE, STEP_FILE)  # those that every voice has
MIX = "mix"  # what a step calls the weights by which its rows become logits; older bundles have no such input
# Where each kind of generator reads the persona; those that read it beside the dialogue mix the two in a graph.
PLACES = {
    "pal": PersonaPlace.BESIDE,
    "joint": PersonaPlace.NOWHERE,
    "hard_prompt": PersonaPlace.IN_FRONT,
}


@dataclass(frozen=True, slots=True)
class BundledVoiceCard:
    """What `voice.json` says."""

    name: str  # of PLACES
    limits: Limits
    context_turns: int
    strategy_first: bool  # every reply begins with its strategy; otherwise it may
    size: int  # of a token's state
    words: int  # that can be written; behind them come the strategies
    start: int  # the token that asks for a reply
    layers: int
    heads: int
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.name not in PLACES:
            raise ValueError(f"there is no generator {self.name!r}")
        if min(self.size, self.words, self.layers, self.heads, self.context_turns) < 1:
            raise ValueError("size, words, layers, heads and context_turns must be at least 1")
        if self.size % self.heads:
            raise ValueError(f"{self.heads} heads do not share {self.size} numbers")

    @property
    def place(self) -> PersonaPlace:
        return PLACES[self.name]

    @property
    def vocabulary(self) -> int:
        return self.words + len(STRATEGIES)

    @property
    def strategy_tokens(self) -> dict[str, int]:
        return {name: self.words + place for place, name in enumerate(STRATEGIES)}

    def write(self, folder: Path) -> None:
        write_part(folder / VOICE_CARD_FILE, self)

    @classmethod
    def read(cls, folder: Path) -> BundledVoiceCard:
        return read_part(folder / VOICE_CARD_FILE, FORMAT, cls._of, "a generator")

    @classmethod
    def _of(cls, saved: dict[str, Any]) -> BundledVoiceCard:
        return cls(**saved | {"limits": Limits(**saved["limits"])})


def state_names(card: BundledVoiceCard) -> tuple[list[str], list[str]]:
    """What the graphs call the parts of a search's state: those of the source, and those of what was written."""
    source, cache = ["alike", "padding", "memory"], []
    for layer in range(card.layers):
        source += [f"source_keys_{layer}", f"source_values_{layer}"]
        cache += [f"keys_{layer}", f"values_{layer}"]
    return source, cache


def has_voice(card: BundleCard) -> bool:
    """Whether a bundle carries a generator."""
    return card.has(VOICE_FILES)


def voice_files(card: BundleCard) -> list[str]:
    """The files of a bundle that belong to its generator, the graphs' weights included."""
    return card.files_of(VOICE_CARD_FILE, (MIX_FILE, MEMORY_FILE, STEP_FILE))
