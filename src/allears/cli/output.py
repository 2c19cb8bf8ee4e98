"""Where and how commands print: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

console = Console()
errors = Console(stderr=True)


def say(text: str, style: str | None = None) -> None:
    """To the person, not to the pipe."""
    errors.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def print_json(record: Any, *, ascii_only: bool = True) -> None:
    """One line for machines."""
    typer.echo(json.dumps(record, ensure_ascii=ascii_only))


def plain_table(title: str, *columns: str, numbers: Sequence[str] = ()) -> Table:
    """A table with a line below its head and none around it; `numbers` are columns to the right, never wrapped."""
    table = Table(
        title=Text(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for column in columns:
        table.add_column(column, no_wrap=column == columns[0])
    for column in numbers:
        table.add_column(Text(column), justify="right", no_wrap=True)
    return table


def framed_table(*columns: str, numbers: Sequence[str] = (), title: str | None = None) -> Table:
    """A table with lines around its cells; those of `columns` that are named in `numbers` stand to the right."""
    table = Table(title=title)
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left")
    return table


def count_of(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def printable(text: str, kept: str = "") -> str:
    """Other people's text: no terminal commands but the signs of `kept`, nothing that cannot be encoded."""
    safe = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(sign if sign >= " " or sign in kept else " " for sign in safe)
