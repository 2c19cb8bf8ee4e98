"""Talks: our own corpus of supportive conversations, with emotion, persona and strategy in one (CC BY 4.0).

It ships inside the package, so `root` is only looked at for files of the same layout elsewhere. Each line is one
conversation; splits are by author, so that no author is in two. See `CARD.md` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora.corpus import CorpusInfo
from allears.corpora.files import OnBad, raise_bad
from allears.corpora.json_files import Record, field, text_field, texts
from allears.corpora.shipped import read_shipped
from allears.corpora.talks.rules import KINDS, broken_rules
from allears.labels import ED_EMOTIONS as EMOTIONS
from allears.labels import STRATEGIES

FOLDER = Path(__file__).parent
KNOWN_BEFORE = "earlier talk"  # the source of facts that the supporter knows from before this conversation


class Talks:
    info = CorpusInfo(
        name="talks",
        title="Talks",
        licence="CC BY 4.0",
        page="docs/corpora/talks.md",
        about="Supportive conversations with persona, strategy and emotion, written for this project. Shipped.",
        counts={"train": 5174, "valid": 438, "test": 438},
        utterances={"train": 70098, "valid": 5364, "test": 5732},
        known={"emotion": EMOTIONS, "strategy": STRATEGIES},
        rules=broken_rules,
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        return read_shipped(split, root, on_bad, info=self.info, folder=FOLDER, build=conversation)


def conversation(record: Record, split: str = "") -> Conversation:
    """A record of the corpus. Raises `ValueError` with the key that is wrong.

    A supporter's reply that the seeker rejects on purpose (`misses`) is context and never a target: its turn number
    (from 1) is in `labels["misses"]`.
    """
    turns = [_turn(number, turn) for number, turn in enumerate(field(record, "turns", list), 1)]
    known = tuple(PersonaSentence(text, KNOWN_BEFORE) for text in texts(record.get("known", []), "known"))
    said = tuple(_sentence(item, len(turns)) for item in record.get("persona", []))
    kind = text_field(record, "kind")
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}; known are {', '.join(KINDS)}")
    labels: dict[str, Any] = {"kind": kind, "author": text_field(record, "author")}
    misses = [number for number, turn in enumerate(record["turns"], 1) if turn.get("misses")]
    if misses:
        labels["misses"] = misses
    if record.get("days_since") is not None:
        labels["days_since"] = field(record, "days_since", int)
    return Conversation(
        id=text_field(record, "id"),
        turns=tuple(turns),
        personas={Role.SEEKER.value: Persona(known + said)} if known or said else {},
        emotion=text_field(record, "emotion"),
        situation=text_field(record, "situation"),
        labels=labels,
        split=split,
        source="talks",
    )


def _turn(number: int, record: object) -> Turn:
    if not isinstance(record, dict):
        raise ValueError(f"turn {number} must be an object")
    expected = Role.SEEKER if number % 2 else Role.SUPPORTER
    if record.get("speaker") != expected.value:
        raise ValueError(f"turn {number} must be the {expected.value}'s, got {record.get('speaker')!r}")
    strategy = text_field(record, "strategy") if expected is Role.SUPPORTER else None
    return Turn(expected, text_field(record, "text"), strategy=strategy)


def _sentence(record: object, turns: int) -> PersonaSentence:
    if not isinstance(record, dict):
        raise ValueError("a persona sentence must be an object with 'text' and 'turn'")
    turn = field(record, "turn", int)
    if not 1 <= turn <= turns or turn % 2 == 0:
        raise ValueError(f"a persona sentence must name a turn of the seeker's, got {turn}")
    return PersonaSentence(text_field(record, "text"), f"turn {turn}")
