"""`allears judge`: blind readers' marks of what listeners said."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.table import Table

from allears.cli.options import ScriptLimit, argument, flag, value
from allears.cli.output import console, errors, framed_table, print_json, say
from allears.evaluation.judging import MARKS_FOLDER, PAGE, VersionMarks, judging_report, mix, read_marks

app = typer.Typer(help="Blind readers' marks of what listeners said.", no_args_is_help=True)


@app.callback()
def judge() -> None:
    """Blind readers' marks of what listeners said."""


@app.command("mix")
def mix_versions(
    files: list[Path] = argument("What `allears replay` wrote for each version, of the same scripts."),
    *,
    out: Path = value(..., "A new folder for the items, the key and the marks.", show_default=False),
    packets: int = value(1, "Hand the items out in so many files.", min=1),
    limit: ScriptLimit = None,
    seed: int = value(0, "The order of the items.", min=0),
) -> None:
    """Make blind items of several versions, in mixed order, for readers to mark.

    \b
    allears judge mix today.jsonl before.jsonl --out judging
    allears judge mix a.jsonl b.jsonl c.jsonl --out judging --packets 4 --limit 50
    """
    count = mix(files, out, packets=packets, limit=limit, seed=seed)
    say(f"{count} items in {out}; readers follow {out / PAGE} and write to {out / MARKS_FOLDER}", "dim")


@app.command("report")
def report(
    folder: Path = argument("A folder that `allears judge mix` made."),
    *,
    as_json: bool = flag("--json", "Print one JSON object instead of tables."),
) -> None:
    """What the readers found: shares of each version, their agreement, and paired sign tests.

    \b
    allears judge report judging
    allears judge report judging --json
    """
    found = judging_report(*read_marks(folder))
    if as_json:
        print_json(found.to_dict())
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
    numbers = ("marks", "good %", "plain %", "off %", "go on")
    table = framed_table("version", *numbers, numbers=numbers, title=title)
    for row in rows:
        shares = (f"{share:.1f}" for share in (row.good, row.plain, row.off))
        table.add_row(row.version, f"{row.replies:,}", *shares, f"{row.go_on:.2f}")
    return table
