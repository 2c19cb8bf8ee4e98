"""The form of PAL's human study of its extractor (Figure 6): conversation, persona, and a verdict to be given.

One row per conversation in which something was found. People fill in `judgement` with one of `CHOICES`, and `reason`
where it is "other".
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from allears.conversation import Conversation
from allears.errors import AllearsError
from allears.evaluation.persona import PersonaResult

CHOICES = ("reasonable", "contradictory", "hallucinatory", "other")
COLUMNS = ("id", "conversation", "persona", "choices", "judgement", "reason")


def check_form_path(path: Path) -> None:
    """Refuse early what could not be written later."""
    if path.suffix.lower() != ".csv":
        raise AllearsError(f"{path}: a judgement form ends in .csv")
    if not path.absolute().parent.is_dir():
        raise AllearsError(f"{path}: the folder {path.absolute().parent} does not exist")


def write_form(path: Path, told: Sequence[PersonaResult], conversations: Iterable[Conversation]) -> int:
    """Write the form, and say how many rows it has."""
    check_form_path(path)
    found: dict[str, list[str]] = {}
    for each in told:
        found.setdefault(each.turn.conversation, []).extend(each.sentences)
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            rows = 0
            for conversation in conversations:
                persona = found.get(conversation.id)
                if persona:
                    said = "\n".join(f"{turn.speaker.value}: {turn.text}" for turn in conversation.turns)
                    writer.writerow([conversation.id, said, "\n".join(persona), " | ".join(CHOICES), "", ""])
                    rows += 1
    except OSError as error:
        raise AllearsError(f"{path}: cannot write the form ({error.strerror or error})") from error
    return rows
