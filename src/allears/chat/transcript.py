"""A conversation as a file of one's own: JSON in our schema, or Markdown to read."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path

from allears.conversation import Conversation, Persona, Role
from allears.errors import AllearsError

_OURS = ("memory_revision",)  # labels that only the database understands
_ANYWHERE = re.compile(r"([\\`*_<\[\]])")
_AT_THE_START = re.compile(r"^(\s*\d*)([#>+.)=~-])")
_NAMES = {Role.SEEKER: "You", Role.SUPPORTER: "allears"}


def save(conversation: Conversation, path: Path, *, replace_it: bool = False) -> None:
    """Write .json (or .jsonl: the same line) or .md, readable by its owner only. An existing file is left alone."""
    if path.suffix in (".json", ".jsonl"):
        text = as_json(conversation)
    elif path.suffix == ".md":
        text = as_markdown(conversation)
    else:
        raise AllearsError(f"{path}: name a file that ends in .json or .md")
    if path.exists() and not replace_it:
        raise AllearsError(f"{path}: that file is there already; choose another name")
    try:
        _write(path, text)
    except OSError as error:
        raise AllearsError(f"{path}: the conversation could not be saved ({error.strerror})") from error


def as_json(conversation: Conversation) -> str:
    labels = {name: value for name, value in conversation.labels.items() if name not in _OURS}
    return replace(conversation, labels=labels).to_json() + "\n"


def as_markdown(conversation: Conversation, *, title: str | None = None) -> str:
    parts = [f"# {_plain(title)}" if title else "# A conversation with allears"]
    for turn in conversation.turns:
        lines = map(_plain, turn.text.strip().splitlines())
        parts.append(f"**{_NAMES[turn.speaker]}:** " + "  \n".join(lines))
    known = conversation.personas.get(Role.SEEKER.value, Persona()).texts
    if known:
        parts += ["## What was noted about you", "\n".join(f"- {_plain(text)}" for text in known)]
    return "\n\n".join(parts) + "\n"


def _plain(line: str) -> str:
    """What somebody wrote, so that no viewer takes it for a heading, a link or a page's markup."""
    return _AT_THE_START.sub(r"\1\\\2", _ANYWHERE.sub(r"\\\1", " ".join(line.splitlines())))


def _write(path: Path, text: str) -> None:
    """All of it or nothing; a temporary file is its owner's alone from the beginning."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
