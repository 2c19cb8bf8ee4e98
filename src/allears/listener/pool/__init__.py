"""The replies the listener can choose from: more than 5,600 written for this project, and whatever a user adds.

A pool is one or more .jsonl files; a line is {"text", "strategy", "emotions", "stage"}. Of the last three a user's own
file may leave out any. Encoding a pool takes half a minute, so its index is built once and kept in the cache folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from allears.errors import AllearsError
from allears.labels import ED_EMOTIONS, STRATEGIES
from allears.listener.contract import POOL, Proposal
from allears.listener.lines import read_lines
from allears.progress import Watch, unwatched
from allears.runtime.candidates import Candidate
from allears.runtime.index import CandidateIndex

SHIPPED = Path(__file__).parent
STAGES = ("opening", "exploration", "comforting", "action", "ending")
ANY = "any"  # of a reply that fits every emotion


@dataclass(frozen=True, slots=True)
class Line:
    """One reply and what it is for."""

    text: str
    strategy: str = "Others"
    emotions: tuple[str, ...] = (ANY,)
    stage: str = "exploration"


def read_pool(path: Path | str, *, or_answered: bool = False) -> list[Line]:
    """The lines of a .jsonl file, or of all such files in a folder. Answered messages among them (`answered`) are left
    out; with `or_answered` there may be nothing else."""
    found = list(read_lines(path, _line))
    if not found and not or_answered:
        raise AllearsError(f"{path}: the pool is empty; there must be at least one reply to choose from")
    return list({line.text: line for line in found}.values())


def shipped_pool() -> list[Line]:
    return read_pool(SHIPPED)


def _line(record: Any) -> Line | None:
    if "messages" in record:
        return None
    text = record.get("text")
    if not isinstance(text, str) or not text.strip():
        raise ValueError('a reply needs a "text"')
    given = {key: record[key] for key in ("strategy", "stage") if key in record}
    if "emotions" in record:
        given["emotions"] = tuple(record["emotions"])
    line = Line(text.strip(), **given)
    if line.strategy not in STRATEGIES:
        raise ValueError(f"unknown strategy {line.strategy!r}; known are {', '.join(STRATEGIES)}")
    if line.stage not in STAGES:
        raise ValueError(f"unknown stage {line.stage!r}; known are {', '.join(STAGES)}")
    strange = [emotion for emotion in line.emotions if emotion != ANY and emotion not in ED_EMOTIONS]
    if strange:
        raise ValueError(f"unknown emotion {strange[0]!r}; use one of ED's 32, or {ANY!r}")
    return line


def candidate(line: Line) -> Candidate:
    """A line as the index keeps it."""
    emotions = (f"emotion:{emotion}" for emotion in line.emotions)
    return Candidate(line.text, (f"strategy:{line.strategy}", f"stage:{line.stage}", *emotions))


def proposal(text: str, tags: Sequence[str], source: str = POOL) -> Proposal:
    """A candidate of the index as the listener sees it."""
    values = [tag.partition(":") for tag in tags]
    return Proposal(
        text,
        source,
        strategy=next((value for name, _, value in values if name == "strategy"), ""),
        emotions=tuple(value for name, _, value in values if name == "emotion"),
        stage=next((value for name, _, value in values if name == "stage"), ""),
    )


def open_index(
    lines: Sequence[Line], selector: Any, *, folder: Path | None = None, watch: Watch = unwatched
) -> CandidateIndex:
    """The index of a pool, built if it is not in the cache folder yet for this model and these very lines."""
    digest = hashlib.sha256(selector.fingerprint.encode())
    for line in lines:
        digest.update("\x1f".join((line.text, line.strategy, line.stage, *line.emotions)).encode() + b"\0")
    place = (folder or user_cache_path("allears") / "pools") / digest.hexdigest()[:16]
    try:
        return CandidateIndex(place, selector)
    except AllearsError:  # not there yet, or cut short: both are mended by building it
        place.parent.mkdir(parents=True, exist_ok=True)
    try:
        return CandidateIndex.build(place, map(candidate, lines), selector, graph=False, watch=watch)
    except AllearsError as error:
        try:  # another process, started at the same time, may have put the very same index in place
            return CandidateIndex(place, selector)
        except AllearsError:
            raise error from None
