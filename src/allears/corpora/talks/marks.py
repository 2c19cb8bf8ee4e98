"""What second readers made of the talks: a mark for every reply as it was first written, and what was rewritten.

`marks.jsonl.gz`, a line for each conversation that was read: `{"id", "reader", "marks", "go_on"}`, one letter for each
reply (G good, P plain, O off, M wrong on purpose). `rewritten.jsonl.gz`, a line for each reply that was changed after
it: `{"id", "turn", "mark", "before"}`; what it became is in the corpus. So the pairs are preferences, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from allears.corpora.files import Source, raise_bad
from allears.corpora.json_files import field, json_lines, text_field

FOLDER = Path(__file__).parent
MARKS_FILE, REWRITTEN_FILE = FOLDER / "marks.jsonl.gz", FOLDER / "rewritten.jsonl.gz"


@dataclass(frozen=True, slots=True)
class ReaderMarks:
    """One reader's marks of one conversation, as it was first written."""

    id: str
    reader: str
    marks: str
    go_on: int


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A reply before it was rewritten: turn `turn` (from 1) of conversation `id`, and the mark it had."""

    id: str
    turn: int
    mark: str
    before: str


def read_marks(path: Path = MARKS_FILE) -> Iterator[ReaderMarks]:
    for _, record in json_lines(Source(path), raise_bad):
        yield ReaderMarks(
            text_field(record, "id"),
            text_field(record, "reader"),
            text_field(record, "marks"),
            field(record, "go_on", int),
        )


def read_rewritten(path: Path = REWRITTEN_FILE) -> Iterator[Rewritten]:
    for _, record in json_lines(Source(path), raise_bad):
        yield Rewritten(
            text_field(record, "id"),
            field(record, "turn", int),
            text_field(record, "mark"),
            text_field(record, "before"),
        )
