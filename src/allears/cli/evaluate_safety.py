"""`allears evaluate safety`: what the crisis screen finds, what it raises for nothing, and what it misses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from allears.cli.evaluate_tables import cell
from allears.cli.options import JsonTables, optional, value
from allears.cli.output import console, plain_table, print_json
from allears.evaluation.safety import Checked, SafetyReport, evaluate_cases, evaluate_talks
from allears.safety.cases_file import read_cases, shipped_cases, shipped_talks
from allears.safety.screen import CrisisScreen


def safety(
    *,
    split: str = value(
        "test", "Which of the shipped cases: train, valid (to build with) or test (to measure)."
    ),
    cases: Path | None = optional(
        'A file of your own instead: {"text": ..., "label": ...} or {"turns": [...], "label": ...} a line.'
    ),
    bundle: str = value("default", "The bundle whose screen is measured."),
    show: bool = value(
        True,
        "List every miss and false alarm, or only the shares (who tunes must not read the test cases).",
        "--list/--no-list",
    ),
    as_json: JsonTables = False,
) -> None:
    """Recall and false alarms of the crisis screen, on single messages and on whole conversations.

    A danger counts as found where the screen is clear about it or asks; a harmless message or conversation counts as a
    false alarm for either.

    Examples:

        allears evaluate safety

        allears evaluate safety --split valid --no-list

        allears evaluate safety --cases my-messages.jsonl --json
    """
    screen = CrisisScreen.from_bundle(bundle)
    if cases is not None:
        reports = {"": evaluate_cases(screen, read_cases(cases))}
    else:
        reports = {
            "": evaluate_cases(screen, shipped_cases(split)),
            "talks": evaluate_talks(screen, shipped_talks(split)),
        }
    where = f"shipped {split} cases" if cases is None else str(cases)
    if as_json:
        record: dict[str, Any] = {"cases": where, "bundle": bundle}
        for name, report in reports.items():
            start = f"{name}_" if name else ""
            record |= {f"{start}{key}": number for key, number in report.flat().items()}
            if show:
                record |= {f"{start}misses": [_plain(item) for item in report.misses]}
                record |= {f"{start}alarms": [_plain(item) for item in report.alarms]}
        print_json(record, ascii_only=False)
        return
    for name, report in reports.items():
        title = f"{where}, whole conversations" if name else where
        console.print(_shares(report, title))
        console.print(_recall("danger", report.by_danger))
        if report.by_shape:
            console.print(_recall("what makes it hard", report.by_shape))
        for heading, items in (("missed", report.misses), ("false alarms", report.alarms)):
            if items and show:
                console.print(_list(f"{heading} ({len(items)})", items))


def _shares(report: SafetyReport, where: str) -> Table:
    title = f"crisis screen on {where} (%, 95% Wilson interval)"
    table = plain_table(title, "", numbers=["share"])
    table.add_column("n", justify="right")
    table.add_row("dangers found (recall)", cell(report.recall), f"{report.dangers:,}")
    table.add_row("  of these: clear", cell(report.recall_clear), "")
    table.add_row("false alarms", cell(report.false_alarms), f"{report.harmless:,}")
    table.add_row("  of these: clear", cell(report.false_clear), "")
    table.add_row("clear, and the right danger named", cell(report.kind_named), "")
    return table


def _recall(heading: str, shares: dict[str, Any]) -> Table:
    table = plain_table("recall (%)", heading, numbers=["found"])
    for name, found in shares.items():
        table.add_row(name, cell(found))
    return table


def _list(title: str, items: tuple[Checked, ...]) -> Table:
    table = plain_table(title, "label", "level", "certainty", "message", "what was seen")
    for item in items:
        seen = ", ".join(_seen(item)) or "nothing"
        certainty = f"{item.screening.certainty:.2f}"
        table.add_row(item.wanted, item.level.value, certainty, Text(item.text), Text(seen))
    return table


def _plain(item: Checked) -> dict[str, Any]:
    return {
        "text": item.text,
        "label": item.wanted,
        "note": item.note,
        "level": item.level.value,
        "certainty": round(item.screening.certainty, 4),
        "seen": _seen(item),
    }


def _seen(item: Checked) -> list[str]:
    return [
        f"{found.layer}: {found.danger.value if found.danger else found.name}"
        for found in item.screening.evidence
        if found.weight >= 0.1
    ]
