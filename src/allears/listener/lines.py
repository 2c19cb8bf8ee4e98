"""Reads .jsonl files of what the listener may say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from allears.corpora.files import CorpusError
from allears.errors import AllearsError

Made = TypeVar("Made")


def read_lines(path: Path | str, make: Callable[[Any], Made | None]) -> Iterator[Made]:
    """What `make` makes of each line of a file, or of all such files in a folder; None leaves a line out, and a line
    that it refuses is named."""
    path = Path(path)
    for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
        try:
            rows = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise AllearsError(f"{file}: the pool cannot be read ({error})") from error
        for number, row in enumerate(rows, 1):
            if not row.strip():
                continue
            try:
                made = make(json.loads(row))
            except (ValueError, TypeError, AttributeError) as error:
                raise CorpusError(str(error), source=file, line=number) from error
            if made is not None:
                yield made
