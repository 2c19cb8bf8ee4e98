"""Written cases for measuring the screen: single messages, or conversations of which the last message is judged."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from allears.conversation import Role, Turn
from allears.corpora import crisis
from allears.corpora import read as read_corpus
from allears.corpora.risk_cases import cases_path
from allears.errors import AllearsError
from allears.safety.dangers import DOUBTFUL, LABELS, NO_DANGER

SPLITS = ("train", "valid", "test")
WANTED = (
    'expected {"text": ..., "label": ...}, or {"turns": [{"speaker": ..., "text": ...}, ...], "label": ...}'
)


@dataclass(frozen=True, slots=True)
class Case:
    """A message, what was said before it, and the danger it speaks of. `note` says what makes it hard."""

    text: str
    label: str
    note: str = ""
    before: tuple[Turn, ...] = ()

    @property
    def is_danger(self) -> bool:
        return self.label not in (NO_DANGER, DOUBTFUL)


@dataclass(frozen=True, slots=True)
class SafetyTalk:
    """A whole conversation: the worst level of any of its messages, and the danger it is about."""

    id: str
    turns: tuple[Turn, ...]
    level: str  # none, doubt, clear
    danger: str = NO_DANGER
    shape: str = ""


def shipped_cases(split: str) -> tuple[Case, ...]:
    """The single messages that ship with allears: train, valid or test."""
    return read_cases(cases_path(_known(split)))


def shipped_talks(split: str) -> tuple[SafetyTalk, ...]:
    """The conversations that ship with allears."""
    order = ("none", "doubt", "clear")
    return tuple(
        SafetyTalk(
            talk.id,
            talk.turns,
            max((level for level in talk.labels["levels"] if level), key=order.index),
            str(talk.labels["danger"]),
            str(talk.labels.get("shape", "")),
        )
        for talk in read_corpus(crisis.NAME, _known(split), crisis.FOLDER)
        if "levels" in talk.labels
    )


def _known(split: str) -> str:
    if split not in SPLITS:
        raise AllearsError(f"no safety cases are called {split!r}; there are {', '.join(SPLITS)}")
    return split


def read_cases(path: Path) -> tuple[Case, ...]:
    """A file (or .gz) with one case a line; a "note" may be there, too."""
    try:
        content = path.read_bytes()
        lines = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8").splitlines()
    except (OSError, EOFError, zlib.error) as error:
        raise AllearsError(f"cannot read the safety cases: {error}") from error
    except UnicodeDecodeError as error:
        raise AllearsError(
            f"{path}: safety cases are UTF-8 text, this file is not ({error.reason})"
        ) from error
    cases = tuple(_cases(path, lines))
    if not cases:
        raise AllearsError(f"{path}: no cases in it; expected one JSON object a line")
    return cases


def _cases(path: Path, lines: Iterable[str]) -> Iterator[Case]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            label, note = record["label"], record.get("note", "")
            turns = tuple(
                Turn(Role(turn["speaker"]), _text(turn["text"])) for turn in record.get("turns", ())
            )
            *before, last = turns or (Turn(Role.SEEKER, _text(record["text"])),)
            if last.speaker is not Role.SEEKER:
                raise ValueError("the last turn must be the seeker's")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise AllearsError(f"{path}, line {number}: {WANTED} ({error})") from error
        if label not in LABELS:
            raise AllearsError(
                f"{path}, line {number}: the label must be one of {', '.join(LABELS)}, got {label!r}"
            )
        yield Case(last.text, label, str(note), tuple(before))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a text was expected, got {value!r}")
    return value
