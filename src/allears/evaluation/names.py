"""What models are called in tables and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")


def short_name(model: str) -> str:
    """A run folder by its last part: what tells runs apart."""
    return Path(model).name or model


def by_short_name(items: Mapping[str, Item]) -> dict[str, Item]:
    """Short names where they still tell the models apart."""
    short = {short_name(name): item for name, item in items.items()}
    return short if len(short) == len(items) else dict(items)
