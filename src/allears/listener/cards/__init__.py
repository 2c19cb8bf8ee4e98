"""What can be said without writing anything: replies on cards, some with the messages they answer.

A file has one card a line, {"replies": [...], "examples": [...], "strategy": ..., "mood": "hard" | "good" | "any"}.
`examples` are messages that its replies answer; a card without them is found by its reply. Of `strategy` and `mood` a
file of your own may leave out any, and {"text": "..."} stands for a card with one reply.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from allears.corpora.files import CorpusError
from allears.errors import AllearsError
from allears.labels import STRATEGIES

SHIPPED = Path(__file__).parent
MOODS = ("hard", "good", "any")


@dataclass(frozen=True, slots=True)
class Card:
    """Replies of one kind, and the messages that any of them answers."""

    replies: tuple[str, ...]
    examples: tuple[str, ...] = ()
    strategy: str = "Others"
    mood: str = "any"


def read_cards(path: Path | str) -> list[Card]:
    """The cards of a .jsonl file (or .gz), or of all such files in a folder. A broken line is named."""
    path = Path(path)
    files = sorted(path.glob("*.jsonl*")) if path.is_dir() else [path]
    found = [card for file in files for card in _cards(file)]
    if not found:
        raise AllearsError(f"{path}: there are no replies in it; there must be at least one to choose from")
    return found


@cache
def shipped_cards() -> tuple[Card, ...]:
    return tuple(read_cards(SHIPPED))


def _cards(file: Path) -> Iterator[Card]:
    try:
        content = file.read_bytes()
        rows = (gzip.decompress(content) if file.suffix == ".gz" else content).decode("utf-8").splitlines()
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise AllearsError(f"{file}: the replies cannot be read ({error})") from error
    for number, row in enumerate(rows, 1):
        if row.strip():
            try:
                yield _card(json.loads(row))
            except (ValueError, TypeError, AttributeError) as error:
                raise CorpusError(str(error), source=file, line=number) from error


def _card(record: Any) -> Card:
    replies = [record["text"]] if "text" in record else record.get("replies")
    card = Card(
        _texts(replies, "replies"),
        _texts(record["examples"], "examples") if record.get("examples") else (),
        record.get("strategy", "Others"),
        record.get("mood", "any"),
    )
    if card.strategy not in STRATEGIES:
        raise ValueError(f"unknown strategy {card.strategy!r}; known are {', '.join(STRATEGIES)}")
    if card.mood not in MOODS:
        raise ValueError(f"unknown mood {card.mood!r}; known are {', '.join(MOODS)}")
    return card


def _texts(value: Any, key: str) -> tuple[str, ...]:
    if (
        not isinstance(value, list)
        or not value
        or not all(isinstance(each, str) and each.strip() for each in value)
    ):
        raise ValueError(f'a card needs "{key}", a list of one or more texts')
    return tuple(each.strip() for each in value)
