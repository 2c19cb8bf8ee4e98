"""Sentences of our own talks, marked by a reader: does one tell a lasting fact about the person by itself?

A line of `train.jsonl.gz`, `valid.jsonl.gz` or `test.jsonl.gz` is one message: {"id": conversation, "turn": from 1,
"sentences": [...], "lasting": [true or false for each]}. The reader was a language model with the page in
`docs/memory.md`; about one sentence in ten is lasting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from allears.corpora.files import CorpusError, NotHereError, Source, raise_bad
from allears.corpora.json_files import field, json_lines, texts

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence somebody said of themselves, or of anything."""

    text: str
    lasting: bool


def read_lasting(split: str, folder: Path = FOLDER) -> Iterator[MarkedSentence]:
    """All sentences of a split, in order. A broken line is named."""
    path = folder / f"{split}.jsonl.gz"
    if not path.is_file():
        raise NotHereError(
            f"there are no marked sentences for the split {split!r}; there are train, valid, test"
        )
    source = Source(path)
    for line, record in json_lines(source, raise_bad):
        said, marks = texts(record.get("sentences"), "sentences"), field(record, "lasting", list)
        if len(said) != len(marks) or not all(isinstance(mark, bool) for mark in marks):
            raise CorpusError("'lasting' needs true or false for each sentence", source=source, line=line)
        yield from (MarkedSentence(text, mark) for text, mark in zip(said, marks, strict=True))
