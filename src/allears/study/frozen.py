"""Outputs are frozen before a study begins: asked for once, written down, and hashed.

`frozen/` beside the study's file holds `items.jsonl`, `outputs.jsonl` and `frozen.json` with the SHA-256 of both, of
the design's parts that decide what people see, and of every system. A study is not served when any of them changed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from allears.conversation import Conversation
from allears.errors import AllearsError
from allears.study.design import Design
from allears.study.items import Item, read_items
from allears.study.systems import Watch, can_be_frozen, fingerprint, outputs_of, unwatched

FOLDER = "frozen"
CARD, ITEMS, OUTPUTS = "frozen.json", "items.jsonl", "outputs.jsonl"


@dataclass(frozen=True, slots=True)
class Frozen:
    """What is judged: items by id, and for each system its outputs by item. `digest` stands for all of it."""

    items: Mapping[str, Item]
    outputs: Mapping[str, Mapping[str, str]]
    digest: str
    not_fixed: tuple[str, ...] = ()  # systems behind an address: nothing says that they stay the same


def said_alike(design: Design, frozen: Frozen) -> dict[tuple[str, str], int]:
    """For how many items two systems that are compared say the same, where they do."""
    if design.shown_systems != 2 or not frozen.outputs:
        return {}
    counts = {
        (one, other): sum(frozen.outputs[one][item] == frozen.outputs[other][item] for item in frozen.items)
        for one, other in design.system_pairs()
    }
    return {pair: count for pair, count in counts.items() if count}


def design_digest(design: Design) -> str:
    """Of what people see and how it is assigned. Texts around it, counts and codes may be mended later."""
    parts = {
        "blocks": [{"type": type(block).__name__, **asdict(block)} for block in design.blocks],
        "items": asdict(design.items),
        "systems": [asdict(system) for system in design.systems],
        "pairs": design.pairs,
        "checks": asdict(design.checks),
        "seed": design.seed,
    }
    return _sha256(json.dumps(parts, sort_keys=True).encode())


def freeze(design: Design, folder: Path, *, watch: Watch = unwatched) -> Frozen:
    """Ask every system for every item, and write down what it said."""
    items = read_items(design, folder)
    if design.shown_systems and len(design.systems) < design.shown_systems:
        raise AllearsError(
            f"{design.file}: a unit shows {design.shown_systems} systems and {len(design.systems)} are named; "
            "add [[systems]]"
        )
    outputs: dict[str, dict[str, str]] = {}
    if design.shown_systems and design.chat is None:
        for spec in design.systems:
            outputs[spec.name] = outputs_of(spec, items, folder, seed=design.seed, watch=watch)
    lines = [json.dumps({"gold": item.gold, "talk": json.loads(item.talk.to_json())}) for item in items]
    said = [
        json.dumps({"system": name, "item": item, "text": text})
        for name, texts in outputs.items()
        for item, text in texts.items()
    ]
    target = folder / FOLDER
    target.mkdir(parents=True, exist_ok=True)
    content = {ITEMS: _lines(lines), OUTPUTS: _lines(said)}
    for name, data in content.items():
        _write(target / name, data)
    card = {
        "design": design_digest(design),
        "files": {name: _sha256(data) for name, data in content.items()},
        "systems": {spec.name: fingerprint(spec, folder) for spec in design.systems},
        "not_fixed": [spec.name for spec in design.systems if not can_be_frozen(spec)],
        "frozen": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    _write(target / CARD, (json.dumps(card, indent=1) + "\n").encode())
    return load_frozen(design, folder)


def load_frozen(design: Design, folder: Path, *, sources: bool = True) -> Frozen:
    """What was frozen, if nothing of it changed since.

    `sources`: also the systems themselves must be as they were, which matters as long as people answer. A report may
    be made when they are long gone.
    """
    target = folder / FOLDER
    again = f"restore it, or run `allears study freeze {folder}` and begin a new study"
    card = _card(target / CARD, folder)
    if card["design"] != design_digest(design):
        raise AllearsError(
            f"{design.file}: what people see changed since the study was frozen (blocks, items, systems, pairs, "
            f"checks or seed); {again}"
        )
    for name, known in card["files"].items():
        if _sha256(_read(target / name)) != known:
            raise AllearsError(f"{target / name}: it changed since the study was frozen; {again}")
    for spec in design.systems if sources else ():
        if fingerprint(spec, folder) != card["systems"].get(spec.name):
            raise AllearsError(f"the system {spec.name!r} changed since the study was frozen; {again}")
    items: dict[str, Item] = {}
    for line in _read(target / ITEMS).decode().splitlines():
        record = json.loads(line)
        talk = Conversation.from_json(json.dumps(record["talk"]))
        items[talk.id] = Item(talk, record["gold"])
    outputs: dict[str, dict[str, str]] = {}
    for line in _read(target / OUTPUTS).decode().splitlines():
        record = json.loads(line)
        outputs.setdefault(record["system"], {})[record["item"]] = record["text"]
    parts = {key: card[key] for key in ("design", "files", "systems")}
    return Frozen(
        items, outputs, _sha256(json.dumps(parts, sort_keys=True).encode()), tuple(card["not_fixed"])
    )


def _card(path: Path, folder: Path) -> dict[str, Any]:
    if not path.is_file():
        raise AllearsError(
            f"{path}: the outputs are not frozen yet; run `allears study freeze {folder}` before the study begins"
        )
    try:
        card = json.loads(_read(path))
        if not {"design", "files", "systems", "not_fixed"} <= set(card):
            raise ValueError("keys are missing")
    except ValueError as error:
        raise AllearsError(
            f"{path}: damaged; run `allears study freeze {folder}` and begin a new study"
        ) from error
    return dict(card)


def _lines(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise AllearsError(f"{path}: cannot be read ({error.strerror})") from error


def _write(path: Path, data: bytes) -> None:
    """Whole or absent."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(data)
    os.replace(part, path)
