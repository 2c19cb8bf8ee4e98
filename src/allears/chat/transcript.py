"""A conversation as a file of one's own: JSON in our schema, or Markdown to read."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from allears.conversation import Conversation, Role
from allears.errors import AllearsError

_OURS = ("memory_revision",)  # labels that only the database understands
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


def as_markdown(conversation: Conversation) -> str:
    parts = ["# A conversation with allears"]
    for turn in conversation.turns:
        parts.append(f"**{_NAMES[turn.speaker]}:** " + "  \n".join(turn.text.strip().splitlines()))
    known = [sentence.text for persona in conversation.personas.values() for sentence in persona.sentences]
    if known:
        parts += ["## What was noted about you", "\n".join(f"- {text}" for text in known)]
    return "\n\n".join(parts) + "\n"


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
