"""Corpora of our own, which lie inside the package: one gzipped file of JSON lines for each split."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from allears.conversation import Conversation
from allears.corpora.corpus import CorpusInfo
from allears.corpora.files import NotHereError, OnBad, Source, locate
from allears.corpora.json_files import Record, conversations, json_lines


def shipped_source(split: str, root: Path, *, info: CorpusInfo, folder: Path) -> Source:
    """The file of a split: under `root/NAME` where somebody keeps another version, else the one that ships.

    NAME is the folder's own.
    """
    try:
        return locate(root, [f"{folder.name}/{split}.jsonl"])
    except NotHereError:
        path = folder / f"{split}.jsonl.gz"
        if not path.is_file():
            raise NotHereError(
                f"{info.name} has no split {split!r}; it has {', '.join(info.splits)}"
            ) from None
        return Source(path)


def read_shipped(
    split: str,
    root: Path,
    on_bad: OnBad,
    *,
    info: CorpusInfo,
    folder: Path,
    build: Callable[[Record, str], Conversation],
) -> Iterator[Conversation]:
    source = shipped_source(split, root, info=info, folder=folder)
    return conversations(source, json_lines(source, on_bad), lambda _, record: build(record, split), on_bad)
