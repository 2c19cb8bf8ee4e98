"""A bundle: an exported model in one folder that needs no torch.

bundle.json             what it is, and the size and SHA-256 of every other file
tokenizer.json
encoder.onnx            tokens to states and one vector; its weights lie in encoder.onnx.data.0, .1, ...
ranker.onnx             CoBERT only: the co-attention of one query with its candidates
reader.onnx             a reader's heads on the encoder's states, where they were added (`understanding.export`)
reader.json             what those heads are
extractor.json          a persona extractor, where one was added (`understanding.persona.export`), with its graphs
                        extractor_gate.onnx, extractor_memory.onnx and extractor_step.onnx
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from allears.errors import AllearsError
from allears.text.layout import Limits

Card = TypeVar("Card")
FORMAT = 1
DEFAULT = "default"  # the name of the bundle that ships
CARD_FILE = "bundle.json"
TOKENIZER_FILE = "tokenizer.json"
ENCODER_FILE = "encoder.onnx"
RANKER_FILE = "ranker.onnx"
LICENCE = "CC BY-NC 4.0 (trained on non-commercial corpora)"


@dataclass(frozen=True, slots=True)
class BundleFile:
    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> BundleFile:
        with path.open("rb") as file:
            return cls(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


@dataclass(frozen=True, slots=True)
class SideWeights:
    """How much each part of the match counts for the context, and how much for the persona.

    One number per hop (CoBERT) and last the one of the whole vectors (the Bi-encoder's only part).
    """

    context: tuple[float, ...]
    persona: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class BundleCard:
    """What `bundle.json` says."""

    name: str  # bi_encoder or cobert
    options: Mapping[str, Any]
    limits: Limits
    weights: SideWeights
    temperature: float  # of the co-attention
    size: int  # of a vector
    precision: str
    fingerprint: str
    files: Mapping[str, BundleFile] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    licence: str = LICENCE
    encoder_digest: str = ""  # of the trained weights, whatever the precision here; old bundles have none
    encoder: Mapping[str, Any] = field(default_factory=dict)  # its shape, as transformers configures it
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        """By way of a temporary file: whoever opens the bundle meanwhile finds the old card or the new one."""
        temporary = folder / f"{CARD_FILE}.part"
        write_part(temporary, self)
        temporary.replace(folder / CARD_FILE)

    def has(self, files: Collection[str]) -> bool:
        """Whether the bundle carries all of these files."""
        return all(name in self.files for name in files)

    def files_of(self, card_file: str, graphs: tuple[str, ...]) -> list[str]:
        """The files of a part with that card: also its graphs' weights, which are called like them and more."""
        return [name for name in self.files if name == card_file or name.startswith(graphs)]

    @classmethod
    def read(cls, folder: Path) -> BundleCard:
        path = folder / CARD_FILE
        try:
            saved = read_card(path, FORMAT)
        except FileNotFoundError:
            raise AllearsError(f"{folder}: no {CARD_FILE} here; make one with `allears export`") from None
        try:
            return cls(
                **saved
                | {
                    "limits": Limits(**saved["limits"]),
                    "weights": SideWeights(
                        *(tuple(saved["weights"][side]) for side in ("context", "persona"))
                    ),
                    "files": {name: BundleFile(**facts) for name, facts in saved["files"].items()},
                }
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise AllearsError(f"{path}: not a bundle's card ({error}); export the bundle again") from error


def write_part(path: Path, card: Any) -> None:
    """A card as `read_card` and `read_part` find it again."""
    text = json.dumps(asdict(card), indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def read_card(path: Path, wanted: int, advice: str = "export the bundle again") -> dict[str, Any]:
    """The JSON object in a card, of the wanted format. A missing file is FileNotFoundError."""
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise AllearsError(f"{path}: not readable as JSON ({error}); {advice}") from error
    found = saved.get("format") if isinstance(saved, dict) else None
    if found != wanted:
        raise AllearsError(
            f"{path}: format {found!r}, but this version of allears reads format {wanted}; {advice}"
        )
    return dict(saved)


def read_part(path: Path, wanted: int, build: Callable[[dict[str, Any]], Card], what: str) -> Card:
    """The card of one of a bundle's parts. `what` it should be is told where it is not."""
    try:
        saved = read_card(path, wanted)
    except FileNotFoundError as error:
        raise AllearsError(f"{path}: not readable as JSON ({error}); export the bundle again") from error
    try:
        return build(saved)
    except (KeyError, TypeError, ValueError, AttributeError, AllearsError) as error:
        raise AllearsError(f"{path}: not {what}'s card ({error}); export the bundle again") from error


def check_files(folder: Path, card: BundleCard, *, verify: bool = False) -> None:
    """Every file is here with its size; with `verify`, also with its SHA-256 (a second or so)."""
    for name, facts in card.files.items():
        path = folder / name
        if not path.is_file():
            raise AllearsError(f"{path}: this file of the bundle is missing; copy or export the bundle again")
        if path.stat().st_size != facts.bytes:
            raise AllearsError(
                f"{path}: {path.stat().st_size} bytes instead of {facts.bytes}, so the file is cut short or "
                "changed; copy or export the bundle again"
            )
        if verify and BundleFile.of(path) != facts:
            raise AllearsError(
                f"{path}: its SHA-256 is wrong, so the file is corrupt; copy or export it again"
            )


def fingerprint(files: Mapping[str, BundleFile], weights: SideWeights) -> str:
    """Of everything that decides what a ranker gives: graphs, weights, tokenizer.

    A reader or an extractor that is added later is no part of it: an index stays good, as none of its vectors change.
    """
    facts = {name: facts.sha256 for name, facts in files.items()} | {"weights": asdict(weights)}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def default_bundle() -> Path:
    """The folder of the bundle that ships inside the package."""
    folder = Path(str(files("allears"))) / "bundles" / "default"
    if not (folder / "bundle.json").is_file():
        raise AllearsError(
            "this install carries no default bundle; name a run folder or a bundle folder instead"
        )
    return folder


def folder_of(path: str | Path) -> Path:
    """The folder that a bundle's name means: the one that ships for "default", else the path itself."""
    return default_bundle() if str(path) == DEFAULT else Path(path)


def bundle_folder(name: str | Path) -> Path | None:
    """The folder of the bundle that `name` means, `default` among them; None for anything else."""
    if str(name) == DEFAULT:
        return default_bundle()
    return Path(name) if (Path(name) / "bundle.json").is_file() else None
