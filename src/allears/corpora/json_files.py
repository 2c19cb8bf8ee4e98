"""Reading JSON a record at a time: one object a line, or one array of objects.

Both keep one record in memory, name the line a record begins on, and go on after a broken one where that
is possible (`on_bad` returns). What a reader finds wrong *inside* a record it raises as `ValueError`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from allears.conversation import Conversation
from allears.corpora.files import CorpusError, OnBad, Source, lines, text_pieces, valid_utf8

Record = dict[str, Any]

_SPACE = re.compile(r"[ \t\r\n]*")
# How near the end of what was read so far an error may lie and still only mean "read on": -Infinity, \uXXXX.
_CUT_VALUE = 16
_KINDS = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")  # one half of an emoji, written as an escape


def json_lines(source: Source, on_bad: OnBad) -> Iterator[tuple[int, Record]]:
    """The objects of a file with one JSON object a line, with their line numbers. Blank lines are skipped."""
    for number, line in enumerate(lines(source), 1):
        if line.isspace():
            continue
        try:
            value = _DECODER.decode(line)
            _check(value, line)
        except (ValueError, RecursionError) as error:
            on_bad(CorpusError(f"expected one JSON object: {_reason(error)}", source=source, line=number))
        else:
            yield number, value


def json_array(source: Source, on_bad: OnBad) -> Iterator[tuple[int, int, Record]]:
    """The objects of a file that is one JSON array: (position from 0, line it begins on, object).

    A record that is not JSON can only be stepped over where each record begins on a line of its own, as the
    published files do; otherwise it is the last one reported.
    """
    window = _Window(text_pieces(source))
    if window.next_character() != "[":
        raise CorpusError("expected a JSON array, beginning with '['", source=source, line=window.line)
    window.step_to(window.position + 1)
    position = 0
    while (character := window.next_character()) != "]":
        line, mark = window.line, window.record_mark()
        if not character:
            raise CorpusError("cut short: the JSON array does not end", source=source, line=line)
        try:
            value, text = window.decode()
            separator = window.next_character()
            if separator == ",":
                window.step_to(window.position + 1)
            elif separator != "]":
                raise ValueError(f"expected ',' or ']' after it, got {separator or 'the end of the file'!r}")
            _check(value, text)
        except _WrongRecordError as error:
            on_bad(CorpusError(f"record {position}: {error}", source=source, line=line))
        except (ValueError, RecursionError) as error:
            on_bad(CorpusError(f"record {position}: {_reason(error)}", source=source, line=line))
            if not window.step_to_mark(mark):
                return
        else:
            yield position, line, value
        position += 1
    window.step_to(window.position + 1)
    if window.next_character():
        on_bad(CorpusError("more text after the end of the JSON array", source=source, line=window.line))


def conversations(
    source: Source,
    records: Iterator[tuple[int, Record]],
    build: Callable[[int, Record], Conversation],
    on_bad: OnBad,
) -> Iterator[Conversation]:
    """Build a conversation from each (line, record); a `ValueError` becomes a bad row with its line."""
    for line, record in records:
        try:
            conversation = build(line, record)
        except ValueError as error:
            on_bad(CorpusError(str(error), source=source, line=line))
        else:
            yield conversation


def field(record: Record, name: str, kind: type) -> Any:
    """The value of a key that must be there and of one kind; otherwise a `ValueError` that says so."""
    if name not in record:
        raise ValueError(f"expected the key {name!r}, got {', '.join(map(repr, record)) or 'no keys'}")
    value = record[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{name!r} must be {_KINDS[kind]}, got {type(value).__name__}")
    return value


def text_field(record: Record, name: str) -> str:
    """A text that says something, without the white space around it."""
    text: str = field(record, name, str).strip()
    if not text:
        raise ValueError(f"{name!r} is empty")
    return text


def texts(value: Any, name: str) -> list[str]:
    """A list of texts, or a `ValueError`."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{name!r} must be a list of texts")
    return value


class _WrongRecordError(ValueError):
    """JSON, but not a record: the reader knows where the next one begins."""


def _check(value: Any, text: str) -> None:
    if not isinstance(value, dict):
        raise _WrongRecordError(f"expected an object, got {type(value).__name__}")
    if not valid_utf8(text):
        raise _WrongRecordError("not valid UTF-8")
    if _HALF_CHARACTER.search(text) and not valid_utf8(json.dumps(value, ensure_ascii=False)):
        raise _WrongRecordError("an escape such as \\ud83d that is only half of a character")


def _reason(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{_json_problem(error)} in column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _json_problem(error: json.JSONDecodeError) -> str:
    return f"not JSON, {error.msg.lower().removesuffix(' at').removesuffix(' starting')}"


class _Window:
    """The part of a text that was read and not used yet; `position` is how far in it we are."""

    def __init__(self, pieces: Iterator[str]):
        self._pieces = pieces
        self._gap = ""  # the white space just before `position`
        self.text, self.position, self.line = "", 0, 1

    def next_character(self) -> str:
        """Step over white space; the character there, or "" at the end of the file."""
        while True:
            end = _SPACE.match(self.text, self.position).end()  # type: ignore[union-attr]
            gap = self._gap + self.text[self.position : end]
            self.step_to(end)
            self._gap = gap
            if end < len(self.text):
                return self.text[end]
            if not self._read_on():
                return ""

    def step_to(self, position: int) -> None:
        self.line += self.text.count("\n", self.position, position)
        self.position, self._gap = position, ""

    def record_mark(self) -> str | None:
        """How the line of this record begins, if the record begins a line."""
        _, newline, indent = self._gap.rpartition("\n")
        return f"\n{indent}{{" if newline else None

    def step_to_mark(self, mark: str | None) -> bool:
        """Go to the next line that begins like `mark`; False if there is none."""
        if mark is None:
            return False
        start = self.position + 1
        while (found := self.text.find(mark, start)) < 0:
            self.step_to(max(start, len(self.text) - len(mark)))
            if not self._read_on():
                return False
            start = self.position
        self.step_to(found)
        return True

    def decode(self) -> tuple[Any, str]:
        """The JSON value here and its text; steps over it. Reads on as long as the value may go on."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.position)
            except json.JSONDecodeError as error:
                cut = error.pos >= len(self.text) - _CUT_VALUE or error.msg.startswith("Unterminated string")
                if cut and self._read_on():
                    continue
                line = self.line + self.text.count("\n", self.position, error.pos)
                raise ValueError(f"{_json_problem(error)} in line {line}") from error
            text = self.text[self.position : end]
            self.step_to(end)
            return value, text

    def _read_on(self) -> bool:
        """Drop what was used and read at least as much again as is left, so that a long record is not
        parsed too often. False at the end of the file."""
        parts = [self.text[self.position :]]
        wanted = len(parts[0])
        self.position = 0
        for piece in self._pieces:
            parts.append(piece)
            wanted -= len(piece)
            if wanted <= 0:
                break
        self.text = "".join(parts)
        return len(parts) > 1
