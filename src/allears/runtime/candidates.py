"""Replies to choose from: out of a text file, a jsonl file with tags, or a corpus."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allears.conversation import Example
from allears.corpora.files import COMPRESSED, CorpusError, Source, lines, valid_utf8
from allears.corpora.split_examples import split_examples
from allears.errors import AllearsError


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reply, and whatever somebody wants to find or filter it by (`emotion:proud`, `greeting`)."""

    text: str
    tags: tuple[str, ...] = ()


def read_candidates(
    pool: str | Path, *, split: str = "train", root: Path | str | None = None, dedupe: bool = True
) -> list[Candidate]:
    """The replies of a pool: a file with one reply a line, a .jsonl file whose lines have a `text` and
    perhaps `tags`, or the responses in one split of a corpus. Of equal texts the first is kept."""
    path = Path(pool)
    if not path.is_file():
        found: Iterable[Candidate] = map(_from_example, split_examples(pool, split, root))
    elif _ending(path) == ".jsonl":
        found = _from_jsonl(path, split)
    else:
        found = (Candidate(text) for _, text in _text_lines(path))
    kept = [candidate for candidate in found if candidate.text]
    if dedupe:
        kept = list({candidate.text: candidate for candidate in reversed(kept)}.values())[::-1]
    if not kept:
        raise AllearsError(f"{pool}: the pool is empty; there must be at least one reply to choose from")
    return kept


def _ending(path: Path) -> str:
    return Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix


def _from_jsonl(path: Path, split: str) -> Iterator[Candidate]:
    for number, line in _text_lines(path):
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise CorpusError(f"not JSON ({error.msg})", source=path, line=number) from error
        if isinstance(record, dict) and "turns" in record:  # not replies but a corpus in our own schema
            yield from map(_from_example, split_examples(path, split))
            return
        yield _from_record(record, path, number)


def _from_record(record: Any, path: Path, number: int) -> Candidate:
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise CorpusError('expected an object with a "text"', source=path, line=number)
    tags = record.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise CorpusError('"tags" must be a list of texts', source=path, line=number)
    return Candidate(record["text"].strip(), tuple(tags))


def _from_example(example: Example) -> Candidate:
    labels = {
        "emotion": example.labels.get("emotion"),
        "problem": example.labels.get("problem"),
        "strategy": example.response.strategy,
        "intent": example.response.intent,
    }
    tags = tuple(f"{name}:{value}" for name, value in labels.items() if value)
    return Candidate(example.response.text.strip(), tags)


def _text_lines(path: Path) -> Iterator[tuple[int, str]]:
    source = Source(path)
    for number, line in enumerate(lines(source), start=1):
        if not valid_utf8(line):
            raise CorpusError("not valid UTF-8", source=source, line=number)
        if line.strip():
            yield number, line.strip()
