"""What somebody said, from a file or the keyboard: plain text with one utterance a line, or conversations as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from allears.conversation import Conversation, Role, Turn, conversation_from_dict
from allears.corpora.files import Source, text_pieces, valid_utf8
from allears.errors import AllearsError

JSON_ENDINGS = (".json", ".jsonl")
_LOOKS_LIKE_JSON = re.compile(r'\s*(?:\[\s*)?\{\s*"')


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text and where it came from, for error messages."""

    text: str
    name: str


def read_said(path: Path) -> SourceText:
    """A file's text: plain, gzip or Zstandard, in UTF-8."""
    text = "".join(text_pieces(Source(path)))
    if not valid_utf8(text):
        raise AllearsError(f"{path}: not a text in UTF-8")
    return SourceText(text, str(path))


def conversations_in(said: SourceText) -> list[Conversation]:
    """The conversations of a JSON or JSON lines text; plain text is one, in which only the seeker speaks."""
    if not said.text.strip():
        raise AllearsError(f"{said.name}: there is nothing to read; give at least one sentence")
    name = Path(said.name).name.removesuffix(".gz").removesuffix(".zst")
    if name.endswith(JSON_ENDINGS) or _LOOKS_LIKE_JSON.match(said.text):
        found = list(_from_json(said))
    else:
        lines = [line.strip() for line in said.text.splitlines() if line.strip()]
        found = [Conversation(said.name, tuple(Turn(Role.SEEKER, line) for line in lines))]
    if not any(turn.speaker is Role.SEEKER for conversation in found for turn in conversation.turns):
        raise AllearsError(
            f"{said.name}: nobody speaks as the seeker, and only their own words tell who they are"
        )
    return found


def _from_json(said: SourceText) -> Iterator[Conversation]:
    try:
        whole = json.loads(said.text)
    except (ValueError, RecursionError):
        whole = None
    if whole is not None:
        for number, record in enumerate(whole if isinstance(whole, list) else [whole], 1):
            yield _conversation(record, f"{said.name}, record {number}")
        return
    for number, line in enumerate(said.text.splitlines(), 1):
        if line.strip():
            where = f"{said.name}, line {number}"
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise AllearsError(f"{where}: expected a conversation as JSON ({error})") from error
            yield _conversation(record, where)


def _conversation(record: object, where: str) -> Conversation:
    try:
        return conversation_from_dict(record)
    except ValueError as error:
        raise AllearsError(f"{where}: {error}; docs/corpora/own.md shows the schema") from error
