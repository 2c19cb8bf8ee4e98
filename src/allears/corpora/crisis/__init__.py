"""Crisis talks: short conversations, with and without danger to somebody, written for the crisis screen (CC BY 4.0).

Every message of the person has a level: none, doubt or clear. Some conversations end with an answer to our own careful
question, and say whether it is an all-clear. They ship inside the package, so `root` is only looked at for files of the
same layout elsewhere; splits are by author. docs/corpora/crisis-talks.md tells how they were written.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allears.conversation import Conversation, Role, Turn
from allears.corpora.corpus import CorpusInfo
from allears.corpora.files import OnBad, raise_bad
from allears.corpora.json_files import Record, field, text_field
from allears.corpora.shipped import read_shipped
from allears.labels import DANGERS, WHOSE

FOLDER = Path(__file__).parent
NAME = "crisis-talks"
LEVELS = ("none", "doubt", "clear")
ANSWERS = ("not", "all-clear")
KINDS = tuple(kind for kind in DANGERS if kind != "doubt")


class CrisisTalks:
    info = CorpusInfo(
        name=NAME,
        title="Crisis talks",
        licence="CC BY 4.0",
        page="docs/corpora/crisis-talks.md",
        about="Conversations with and without danger to somebody, a level for each message; for the crisis screen. "
        "Shipped.",
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        return read_shipped(split, root, on_bad, info=self.info, folder=FOLDER, build=conversation)


def conversation(record: Record, split: str = "") -> Conversation:
    """A record of the corpus. Raises `ValueError` with the key that is wrong."""
    kind = _one_of(record, "kind", KINDS)
    turns, levels = [], []
    for turn in field(record, "turns", list):
        speaker = Role(_one_of(turn, "speaker", ("seeker", "supporter")))
        turns.append(Turn(speaker, text_field(turn, "text")))
        level = turn.get("level")
        if level is not None and (speaker is Role.SUPPORTER or level not in LEVELS):
            raise ValueError(
                f"'level' must be one of {', '.join(LEVELS)}, of the seeker's turns; got {level!r}"
            )
        levels.append(level)
    if not turns or turns[-1].speaker is not Role.SEEKER:
        raise ValueError("the last turn must be the seeker's")
    labels: dict[str, Any] = {"danger": kind, "whose": _one_of({"whose": "own"} | record, "whose", WHOSE)}
    if "answer" in record:
        labels["answer"] = _one_of(record, "answer", ANSWERS)
    else:
        if any(
            level is None for turn, level in zip(turns, levels, strict=True) if turn.speaker is Role.SEEKER
        ):
            raise ValueError("every turn of the seeker needs a 'level'")
        labels["levels"] = levels
    for name in ("shape", "author"):
        if name in record:
            labels[name] = text_field(record, name)
    return Conversation(text_field(record, "id"), tuple(turns), labels=labels, split=split, source=NAME)


def _one_of(record: Record, key: str, known: tuple[str, ...]) -> str:
    value = text_field(record, key)
    if value not in known:
        raise ValueError(f"{key!r} must be one of {', '.join(known)}; got {value!r}")
    return value
