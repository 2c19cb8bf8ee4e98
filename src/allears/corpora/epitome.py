"""EPITOME (Sharma et al. 2020): how much empathy a reply to a post in need shows, in three mechanisms.

Official layout: three csv files, `emotional-reactions-reddit.csv`, `interpretations-reddit.csv` and
`explorations-reddit.csv`, with the same pairs of post and response (`sp_id`, `rp_id`), each with a `level`
(0 none, 1 weak, 2 strong) and `rationales` (the parts of the response that show it, each ended by `|`).

Here a pair is one conversation of two turns, and `labels` has `{"level": ..., "rationales": [...]}` for each
mechanism. 61 pairs were annotated more than once; the first annotation in one file belongs to the first in
the others, and the later ones get an id that ends in `#2`, `#3`. The authors publish no split: it is "train".
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
from allears.labels import MECHANISMS

COLUMNS = ["sp_id", "rp_id", "seeker_post", "response_post", "level", "rationales"]
LEVELS = {"0": 0, "1": 1, "2": 2}

_FILES = "https://raw.githubusercontent.com/behavioral-data/Empathy-Mental-Health/master/dataset"

Pair = tuple[str, str]


class Epitome:
    info = CorpusInfo(
        name="epitome",
        title="EPITOME",
        licence="research only",
        page="https://github.com/behavioral-data/Empathy-Mental-Health",
        about="Posts in need and responses, rated for emotional reactions, interpretations, explorations.",
        splits=("train",),
        downloads=tuple(
            Download(url=f"{_FILES}/{name}", file=f"epitome/{name}")
            for name in (f"{mechanism.replace('_', '-')}-reddit.csv" for mechanism in MECHANISMS)
        ),
        counts={"train": 3_084},
        utterances={"train": 6_168},
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        root = Path(root)
        if split != "train":
            raise NotHereError(f"there is no split {split!r}, only 'train'", source=root)
        folder = root.parent if root.is_file() else root
        names = {mechanism: f"{mechanism.replace('_', '-')}-reddit.csv" for mechanism in MECHANISMS}
        sources = {mechanism: locate(folder, [f"epitome/{name}"]) for mechanism, name in names.items()}
        return _conversations(sources, on_bad)


def _conversations(sources: dict[str, Source], on_bad: OnBad) -> Iterator[Conversation]:
    """Stream the first file; of the others only levels and rationales are held, not the posts."""
    first, *others = MECHANISMS
    held = {mechanism: _judgements(sources[mechanism], on_bad) for mechanism in others}
    seen: Counter[Pair] = Counter()
    for line, row in _rows(sources[first], on_bad):
        pair = row[0], row[1]
        lacking = [mechanism for mechanism in others if not held[mechanism][pair]]
        if lacking:
            problem = f"the pair {'/'.join(pair)} is not in {sources[lacking[0]].path.name}"
            on_bad(CorpusError(problem, source=sources[first], line=line))
            continue
        seen[pair] += 1
        again = f"#{seen[pair]}" if seen[pair] > 1 else ""
        yield Conversation(
            id="/".join(pair) + again,
            turns=(Turn(Role.SEEKER, row[2].strip()), Turn(Role.SUPPORTER, row[3].strip())),
            labels={
                first: _judgement(row),
                **{mechanism: held[mechanism][pair].popleft() for mechanism in others},
            },
            split="train",
            source="epitome",
        )


def _judgements(source: Source, on_bad: OnBad) -> dict[Pair, deque[dict[str, Any]]]:
    judgements: dict[Pair, deque[dict[str, Any]]] = defaultdict(deque)
    for _, row in _rows(source, on_bad):
        judgements[row[0], row[1]].append(_judgement(row))
    return judgements


def _judgement(row: list[str]) -> dict[str, Any]:
    rationales = [part.strip() for part in row[5].split("|")]
    return {"level": LEVELS[row[4]], "rationales": [part for part in rationales if part]}


def _rows(source: Source, on_bad: OnBad) -> Iterator[tuple[int, list[str]]]:
    """The rows that can be used, each with the line it begins on (a quoted post may span several)."""
    reader = csv.reader(lines(source))
    begins = 1
    while True:  # a row that csv cannot read ends the for loop, not the file
        try:
            for row in reader:
                line, begins = begins, reader.line_num + 1
                if line == 1:
                    if row != COLUMNS:
                        expected = f"expected the columns {', '.join(COLUMNS)}, got {', '.join(row)}"
                        raise CorpusError(expected, source=source, line=1)
                elif problem := _problem(row):
                    on_bad(CorpusError(problem, source=source, line=line))
                elif row:
                    yield line, row
            return
        except csv.Error as error:
            line, begins = begins, reader.line_num + 1
            on_bad(CorpusError(f"not a CSV row ({error})", source=source, line=line))


def _problem(row: list[str]) -> str | None:
    if not row:
        return None
    if len(row) != len(COLUMNS):
        return f"expected {len(COLUMNS)} columns, got {len(row)}"
    if row[4] not in LEVELS:
        return f"expected a level of 0, 1 or 2, got {row[4]!r}"
    if not (row[2].strip() and row[3].strip()):
        return "an empty post or response"
    if not valid_utf8("".join(row)):
        return "not valid UTF-8"
    return None
