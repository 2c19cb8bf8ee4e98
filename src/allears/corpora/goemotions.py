"""GoEmotions (Demszky et al. 2020): Reddit comments labelled with 27 emotions and neutral.

Official layout: `train.tsv`, `dev.tsv` (here the split "valid") and `test.tsv`: the comment, the numbers of
its labels joined by commas, the comment's id; quoted the csv way. The names are in `labels.txt` (published
as `emotions.txt`) beside them; without it the published order is used.

A comment is one seeker turn. Its first label is the turn's and the conversation's emotion; all of them are
in `labels["emotions"]`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from allears.conversation import Conversation, Role, Turn
from allears.corpora.corpus import CorpusInfo, Download
from allears.corpora.files import (
    CorpusError,
    NotHereError,
    OnBad,
    Source,
    lines,
    locate,
    raise_bad,
    valid_utf8,
)
from allears.labels import GO_EMOTIONS as EMOTIONS

_FILES = "https://raw.githubusercontent.com/google-research/google-research/master/goemotions/data"


class GoEmotions:
    info = CorpusInfo(
        name="goemotions",
        title="GoEmotions",
        licence="Apache-2.0",
        page="https://github.com/google-research/google-research/tree/master/goemotions",
        about="Single Reddit comments with one or more of 27 emotions, or neutral.",
        downloads=tuple(
            Download(url=f"{_FILES}/{name}", file=f"goemotions/{name}")
            for name in ("train.tsv", "dev.tsv", "test.tsv", "emotions.txt")
        ),
        counts={"train": 43_410, "valid": 5_426},
        utterances={"train": 43_410, "valid": 5_426},
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        part = {"valid": "dev"}.get(split, split)
        source = locate(root, [f"goemotions/{part}.tsv", f"goemotions/data/{part}.tsv"])
        return _conversations(source, split, on_bad)


def _conversations(source: Source, split: str, on_bad: OnBad) -> Iterator[Conversation]:
    names = _label_names(source.path.parent)
    for number, line in enumerate(lines(source), 1):
        if line.isspace():
            continue
        try:
            text, emotions, comment = _row(line, names)
        except ValueError as error:
            on_bad(CorpusError(str(error), source=source, line=number))
            continue
        yield Conversation(
            id=comment,
            turns=(Turn(Role.SEEKER, text, emotion=emotions[0]),),
            emotion=emotions[0],
            labels={"emotions": emotions},
            split=split,
            source="goemotions",
        )


def _label_names(folder: Path) -> dict[str, str]:
    """Number, as it is written, to name."""
    names: Iterable[str] = EMOTIONS
    try:
        source = locate(folder, ["labels.txt", "emotions.txt"])
    except NotHereError:
        pass  # the published order will do
    else:
        names = [line.strip() for line in lines(source) if not line.isspace()]
        if not all(map(valid_utf8, names)):
            raise CorpusError("not valid UTF-8", source=source)
    return {str(number): name for number, name in enumerate(names)}


def _row(line: str, names: Mapping[str, str]) -> tuple[str, list[str], str]:
    """The text, the names of its labels and its id. A row never spans lines, so each is read by itself:
    a lost quote mark costs one comment and not the rest of the file."""
    if not valid_utf8(line):
        raise ValueError("not valid UTF-8")
    try:
        (columns,) = csv.reader([line], delimiter="\t")
    except csv.Error as error:
        raise ValueError(f"not a tab-separated row ({error})") from error
    if len(columns) != 3:
        raise ValueError(f"expected 3 columns (text, labels, id) between tabs, got {len(columns)}")
    text, numbers, comment = (column.strip() for column in columns)
    if not (text and comment):
        raise ValueError("an empty text or id")
    unknown = [number for number in numbers.split(",") if number not in names]
    if unknown:
        raise ValueError(f"expected label numbers from 0 to {len(names) - 1}, got {unknown[0]!r}")
    return text, [names[number] for number in numbers.split(",")], comment
