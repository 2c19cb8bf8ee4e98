"""The written cases: messages with the danger they speak of, for training and measuring the screen."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from allears.corpora.risk_cases import cases_path
from allears.errors import AllearsError
from allears.safety.dangers import LABELS, NO_DANGER

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True, slots=True)
class Case:
    """One message. `note` says what makes it hard: misspelt, indirect, a film, the past, ..."""

    text: str
    label: str
    note: str = ""

    @property
    def is_danger(self) -> bool:
        return self.label != NO_DANGER


def shipped_cases(split: str) -> tuple[Case, ...]:
    """The cases that ship with allears: train, valid or test."""
    if split not in SPLITS:
        raise AllearsError(f"no safety cases are called {split!r}; there are {', '.join(SPLITS)}")
    return read_cases(cases_path(split))


def read_cases(path: Path) -> tuple[Case, ...]:
    """A file (or .gz) with one case a line: {"text": ..., "label": ..., "note": ...}; the note may be left out."""
    try:
        content = path.read_bytes()
        lines = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8").splitlines()
    except (OSError, EOFError) as error:
        raise AllearsError(f"cannot read the safety cases: {error}") from error
    except UnicodeDecodeError as error:
        raise AllearsError(
            f"{path}: safety cases are UTF-8 text, this file is not ({error.reason})"
        ) from error
    cases = tuple(_cases(path, lines))
    if not cases:
        raise AllearsError(f"{path}: no cases in it; expected one JSON object a line")
    return cases


def _cases(path: Path, lines: Iterable[str]) -> Iterable[Case]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            text, label, note = record["text"], record["label"], record.get("note", "")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            wanted = 'expected {"text": ..., "label": ...}'
            raise AllearsError(f"{path}, line {number}: {wanted} ({error})") from error
        if not isinstance(text, str) or label not in LABELS:
            raise AllearsError(
                f"{path}, line {number}: the label must be one of {', '.join(LABELS)}, got {label!r}"
            )
        yield Case(text, label, str(note))
