"""Progress on standard error, and only where a person is watching."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from allears.cli.output import errors
from allears.corpora.download import OnProgress

Item = TypeVar("Item")


def _bar(*columns: ProgressColumn, transient: bool = True) -> Progress:
    """What is done and a bar, then the columns; only where a person is watching."""
    shown = (TextColumn("{task.description}"), BarColumn(), *columns)
    return Progress(*shown, console=errors, transient=transient, disable=not errors.is_terminal)


def watched(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """The same items, with a bar that goes away at the end."""
    with _bar(MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        yield from bar.track(items, total=total, description=what)


@contextmanager
def transfer(what: str) -> Iterator[OnProgress]:
    """A bar for a download, moved by the callback it hands out."""
    columns = DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    with _bar(*columns, transient=False) as bar:
        task = bar.add_task(what, total=None)

        def move(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        yield move


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for one thing after another: what is being done, how many are done, and of how many (0: not known)."""
    with _bar(MofNCompleteColumn(), TimeElapsedColumn()) as bar:
        task = bar.add_task("starting", total=None)

        def move(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        yield move
