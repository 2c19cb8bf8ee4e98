"""EmpatheticIntents (Welivita & Pu 2020): EmpatheticDialogues with a label on every turn.

Layout: beside EmpatheticDialogues, `ed_turn_labels.{split}.jsonl` with `conv_id` and `labels`, one label a
turn. A seeker's label is kept as the turn's emotion, a supporter's as its intent. The labels were made by a
classifier that chose among 32 emotions and 9 intents whoever spoke, so now and then a seeker's "emotion" is
`questioning` or a supporter's "intent" is `lonely`; they are passed on as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from allears.conversation import Conversation, Role, Turn
from allears.corpora.corpus import CorpusInfo
from allears.corpora.empathetic_dialogues import EmpatheticDialogues
from allears.corpora.files import CorpusError, OnBad, Source, locate, raise_bad
from allears.corpora.json_files import field, json_lines, texts
from allears.labels import ED_EMOTIONS as EMOTIONS
from allears.labels import INTENTS

_KNOWN_LABELS = frozenset((*EMOTIONS, *INTENTS))


class EmpatheticIntents:
    info = CorpusInfo(
        name="ed-intents",
        title="EmpatheticIntents",
        licence="not stated (the conversations: CC BY-NC 4.0)",
        page="https://github.com/anuradha1992/EmpatheticIntents",
        about="EmpatheticDialogues with an emotion per seeker turn and an intent per supporter turn.",
        counts={"train": 19_532, "valid": 2_769},
        utterances={"train": 84_165},
        known={"emotion": EMOTIONS, "turn emotion": _KNOWN_LABELS, "intent": _KNOWN_LABELS},
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        root = Path(root)
        folder = root.parent if root.is_file() else root
        source = locate(folder, [f"ed_turn_labels.{split}.jsonl"])
        is_dialogues = root.is_file() and root != source.path
        dialogues = EmpatheticDialogues().read(split, root if is_dialogues else folder, on_bad=on_bad)
        return _labelled(dialogues, source, on_bad)


def _labelled(dialogues: Iterator[Conversation], source: Source, on_bad: OnBad) -> Iterator[Conversation]:
    # The labels are a fiftieth of the conversations' size, so they may wait in memory, in any order.
    labels = _read_labels(source, on_bad)
    for dialogue in dialogues:
        if dialogue.id not in labels:
            on_bad(CorpusError(f"no labels for the conversation {dialogue.id!r}", source=source))
            continue
        line, names = labels[dialogue.id]
        if len(names) != len(dialogue.turns):
            problem = f"{dialogue.id!r} has {len(dialogue.turns)} turns but {len(names)} labels"
            on_bad(CorpusError(problem, source=source, line=line))
            continue
        turns = tuple(_with_label(turn, name) for turn, name in zip(dialogue.turns, names, strict=True))
        yield replace(dialogue, turns=turns, source="ed-intents")


def _read_labels(source: Source, on_bad: OnBad) -> dict[str, tuple[int, list[str]]]:
    labels = {}
    for line, record in json_lines(source, on_bad):
        try:
            names = texts(field(record, "labels", list), "labels")
            unknown = [name for name in names if name not in _KNOWN_LABELS]
            if unknown:
                raise ValueError(
                    f"unknown label {unknown[0]!r}; known are {', '.join(sorted(_KNOWN_LABELS))}"
                )
            labels[field(record, "conv_id", str)] = line, names
        except ValueError as error:
            on_bad(CorpusError(str(error), source=source, line=line))
    return labels


def _with_label(turn: Turn, label: str) -> Turn:
    return replace(turn, emotion=label) if turn.speaker is Role.SEEKER else replace(turn, intent=label)
