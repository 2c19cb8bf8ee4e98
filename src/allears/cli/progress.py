"""Progress on standard error, and only where a person is watching."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from allears.cli.output import errors
from allears.corpora.download import OnProgress

Item = TypeVar("Item")


def watched(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """The same items, with a bar that goes away at the end."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    )
    with bar:
        yield from bar.track(items, total=total, description=what)


@contextmanager
def transfer(what: str) -> Iterator[OnProgress]:
    """A bar for a download, moved by the callback it hands out."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=errors,
        disable=not errors.is_terminal,
    )
    with bar:
        task = bar.add_task(what, total=None)

        def move(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        yield move
