"""`allears judge`: blind readers' marks of what listeners said."""

from __future__ import annotations

import json
from pathlib import Path

import typer
from rich.table import Table

from allears.cli.output import console, errors
from allears.evaluation.judging import MARKS_FOLDER, PAGE, VersionMarks, judging_report, mix, read_marks

app = typer.Typer(help="Blind readers' marks of what listeners said.", no_args_is_help=True)


@app.callback()
def judge() -> None:
    """Blind readers' marks of what listeners said."""


@app.command("mix")
def mix_versions(
    files: list[Path] = typer.Argument(
        help="What `allears replay` wrote for each version, of the same scripts.", show_default=False
    ),
    *,
    out: Path = typer.Option(help="A new folder for the items, the key and the marks.", show_default=False),
    packets: int = typer.Option(1, "--packets", min=1, help="Hand the items out in so many files."),
    limit: int | None = typer.Option(None, "--limit", min=1, help="Only N scripts, a seeded sample."),
    seed: int = typer.Option(0, "--seed", min=0, help="The order of the items."),
) -> None:
    """Make blind items of several versions, in mixed order, for readers to mark.

    \b
    allears judge mix today.jsonl before.jsonl --out judging
    allears judge mix a.jsonl b.jsonl c.jsonl --out judging --packets 4 --limit 50
    """
    count = mix(files, out, packets=packets, limit=limit, seed=seed)
    errors.print(
        f"{count} items in {out}; readers follow {out / PAGE} and write to {out / MARKS_FOLDER}",
        style="dim",
        highlight=False,
        soft_wrap=True,
    )


@app.command("report")
def report(
    folder: Path = typer.Argument(help="A folder that `allears judge mix` made.", show_default=False),
    *,
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object instead of tables."),
) -> None:
    """What the readers found: shares of each version, their agreement, and paired sign tests.

    \b
    allears judge report judging
    allears judge report judging --json
    """
    found = judging_report(*read_marks(folder))
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
        return
    console.print(_table("all readers", found.versions))
    for reader, rows in found.by_reader.items():
        console.print(_table(reader, rows))
    if found.kappa is not None:
        console.print(
            f"Cohen's kappa {found.kappa:.2f} on {found.read_twice:,} replies that two readers marked"
        )
    for each in found.compared:
        console.print(
            f"{each.first} against {each.second} on {each.pairs:,} messages: better {each.test.wins}, "
            f"worse {each.test.losses}, p = {each.test.p_value:.2g} (sign test)",
            soft_wrap=True,
        )
    if found.unread:
        errors.print(f"{found.unread} items are not marked yet", style="yellow")


def _table(title: str, rows: tuple[VersionMarks, ...]) -> Table:
    table = Table("version", "marks", "good %", "plain %", "off %", "go on", title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        shares = (f"{share:.1f}" for share in (row.good, row.plain, row.off))
        table.add_row(row.version, f"{row.replies:,}", *shares, f"{row.go_on:.2f}")
    return table
