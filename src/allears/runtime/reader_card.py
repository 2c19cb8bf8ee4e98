"""A reader in a bundle: `reader.onnx`, its heads on the states of the bundle's encoder, and `reader.json`.

Where it has further layers upon the encoder's, the heads that do without them are in `reader_plain.onnx`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from allears.runtime.bundle import read_part, write_part
from allears.text.layout import Limits

FORMAT = 1
READER_FILE = "reader.onnx"
PLAIN_FILE = "reader_plain.onnx"
READER_CARD_FILE = "reader.json"


def logits_output(head: str) -> str:
    """What `reader.onnx` calls a head's logits [B, labels]."""
    return f"{head}.logits"


def tokens_output(head: str) -> str:
    """What it calls the token logits [B, L] of a head that points."""
    return f"{head}.tokens"


@dataclass(frozen=True, slots=True)
class BundledReaderCard:
    """What `reader.json` says."""

    heads: Mapping[str, tuple[str, ...]]  # name -> labels, in the order of the columns
    limits: Limits
    size: int  # of a token's state
    pooling: str
    multi_label: tuple[str, ...] = ()  # heads whose labels do not exclude each other
    pointing: tuple[str, ...] = ()  # heads that also say where
    informed: tuple[str, ...] = ()  # heads that are also told the facts of a conversation
    temperatures: Mapping[str, float] = field(default_factory=dict)
    window: int = 1  # neighbouring tokens whose scores are averaged to say where
    further: int = 0  # layers of its own upon the encoder's
    plain: tuple[str, ...] = ()  # heads that read the encoder's own states all the same
    format: int = FORMAT

    def __post_init__(self) -> None:
        _known(self.heads, "multi_label", self.multi_label)
        _known(self.heads, "pointing", self.pointing)
        _known(self.heads, "informed", self.informed)
        _known(self.heads, "plain", self.plain)
        _known(self.heads, "temperatures", self.temperatures)
        cold = [name for name, value in self.temperatures.items() if not value > 0]
        if cold:
            raise ValueError(f"the temperature of {cold[0]} is not above 0")

    @property
    def graphs(self) -> dict[str, tuple[str, ...]]:
        """The heads of each of its graphs, by file: those that need no further layers have one without them."""
        plain = tuple(name for name in self.heads if self.further and name in self.plain)
        deep = tuple(name for name in self.heads if name not in plain)
        return {READER_FILE: deep} | ({PLAIN_FILE: plain} if plain else {})

    def is_deep(self, graph: str) -> bool:
        """Whether the graph in this file has the further layers."""
        return bool(self.further) and graph == READER_FILE

    def inputs(self, heads: Collection[str]) -> list[str]:
        """Of a graph with these heads: `facts` [B, FACTS] only where one asks for them."""
        return ["states", "mask", *(["facts"] if not {*heads}.isdisjoint(self.informed) else [])]

    def outputs(self, heads: Collection[str]) -> list[str]:
        """Of a graph with these heads, in its order."""
        pointing = [name for name in self.pointing if name in heads]
        return [*map(logits_output, heads), *map(tokens_output, pointing)]

    def write(self, folder: Path, name: str = READER_CARD_FILE) -> None:
        write_part(folder / name, self)

    @classmethod
    def read(cls, folder: Path, name: str = READER_CARD_FILE) -> BundledReaderCard:
        return read_part(folder / name, FORMAT, cls._of, "a reader")

    @classmethod
    def _of(cls, saved: dict[str, Any]) -> BundledReaderCard:
        return cls(
            **saved
            | {
                "heads": {name: tuple(map(str, labels)) for name, labels in saved["heads"].items()},
                "limits": Limits(**saved["limits"]),
                "multi_label": tuple(saved["multi_label"]),
                "pointing": tuple(saved["pointing"]),
                "informed": tuple(saved.get("informed", ())),  # older bundles have none
                "plain": tuple(saved.get("plain", ())),
            }
        )


def _known(heads: Mapping[str, object], what: str, names: Collection[str]) -> None:
    unknown = [name for name in names if name not in heads]
    if unknown:
        raise ValueError(f"{what} names {unknown[0]!r}, which is no head here")
