"""What a corpus is: facts about it, and one method that reads a split into Conversations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from allears.conversation import Conversation
from allears.corpora.files import OnBad, raise_bad


@dataclass(frozen=True, slots=True)
class Download:
    """One official file: where its authors publish it, its checksum if they give one, and its size."""

    url: str
    file: str  # where it goes, relative to the root of the corpora
    bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """The facts a person wants before using a corpus."""

    name: str
    title: str
    licence: str
    page: str  # the page to get the files from by hand
    about: str  # one sentence
    splits: tuple[str, ...] = ("train", "valid", "test")
    downloads: tuple[Download, ...] = ()
    # Published number of conversations per split (of the files described in docs/corpora), for `data check`.
    counts: Mapping[str, int] = field(default_factory=dict)
    # Published number of utterances per split, where the authors give one.
    utterances: Mapping[str, int] = field(default_factory=dict)
    # Labels with a closed set of values: "emotion", "problem" (of a conversation), "turn emotion",
    # "strategy", "intent" (of a turn). `data check` reports any other value.
    known: Mapping[str, Collection[str]] = field(default_factory=dict)
    # What else `data check` holds a conversation against: each broken rule is one sentence.
    rules: Callable[[Conversation], Iterable[str]] | None = None


@runtime_checkable
class Corpus(Protocol):
    """A reader. `root` is the folder of all corpora, this corpus's own folder, or the very file.

    `read` yields conversations as it goes (memory stays flat) and calls `on_bad` with a `CorpusError`
    for every broken row; the default raises it.
    """

    info: CorpusInfo

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]: ...
