"""`allears evaluate safety`: what the crisis screen finds, what it raises for nothing, and what it misses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from allears.cli.evaluate_tables import cell
from allears.cli.options import JsonTables, flag, optional, value
from allears.cli.output import console, plain_table, print_json
from allears.evaluation.safety import Checked, SafetyReport, evaluate_safety
from allears.safety.cases_file import read_cases, shipped_cases
from allears.safety.screen import CrisisScreen


def safety(
    *,
    split: str = value(
        "test", "Which of the shipped cases: train, valid (to build with) or test (to measure)."
    ),
    cases: Path | None = optional('A file of your own instead, {"text": ..., "label": ...} a line.'),
    bundle: str = value(
        "default", "The bundle whose screen, or else its reader's risk head, is one of the layers."
    ),
    no_reader: bool = flag("--no-reader", "Patterns and n-grams alone: the screen without any bundle."),
    show: bool = value(
        True,
        "List every miss and false alarm, or only the shares (who tunes must not read the test cases).",
        "--list/--no-list",
    ),
    as_json: JsonTables = False,
) -> None:
    """Recall and false alarms of the crisis screen on written cases, layer by layer, with every miss.

    Examples:

        allears evaluate safety

        allears evaluate safety --split valid --no-reader

        allears evaluate safety --cases my-messages.jsonl --json
    """
    read = shipped_cases(split) if cases is None else read_cases(cases)
    report = evaluate_safety(_screen(None if no_reader else bundle), read)
    where = f"shipped {split} cases" if cases is None else str(cases)
    if as_json:
        record: dict[str, Any] = {"cases": where, "bundle": None if no_reader else bundle} | report.flat()
        if show:
            record |= {"misses": [_plain(item) for item in report.misses]}
            record |= {"alarms": [_plain(item) for item in report.alarms]}
        print_json(record, ascii_only=False)
        return
    for table in (_shares(report, where), _dangers(report), _layers(report)):
        console.print(table)
    for title, items in (("missed", report.misses), ("false alarms", report.alarms)):
        if items and show:
            console.print(_list(f"{title} ({len(items)})", items))


def _screen(bundle: str | None) -> CrisisScreen:
    if bundle is None:
        return CrisisScreen()
    from allears.safety.bundled_screen import bundled_head

    return CrisisScreen(bundled_head(bundle))


def _shares(report: SafetyReport, where: str) -> Table:
    title = f"crisis screen on {where} (%, 95% Wilson interval)"
    table = plain_table(title, "", numbers=["share"])
    table.add_column("n", justify="right")
    table.add_row("dangers found (recall)", cell(report.recall), f"{report.dangers:,}")
    table.add_row("false alarms", cell(report.false_alarms), f"{report.harmless:,}")
    table.add_row("named the right danger", cell(report.kind_named), "")
    return table


def _layers(report: SafetyReport) -> Table:
    headings = ("recall", "false alarms", "found by no other")
    table = plain_table("what each layer would find alone (%)", "layer", numbers=headings)
    for layer, recall in report.layer_recall.items():
        table.add_row(layer, cell(recall), cell(report.layer_false_alarms[layer]), f"{report.only[layer]:,}")
    table.add_row("only together", "", "", f"{report.together:,}")
    return table


def _dangers(report: SafetyReport) -> Table:
    """Which layer is good at what."""
    headings = ("all layers", *report.layer_recall)
    table = plain_table("recall by danger (%)", "danger", numbers=headings)
    for danger, found in report.by_danger.items():
        alone = (f"{kinds[danger].value:.1f}" for kinds in report.layer_by_danger.values())
        table.add_row(danger.value, cell(found), *alone)
    return table


def _list(title: str, items: tuple[Checked, ...]) -> Table:
    table = plain_table(title, "label", "certainty", "message", "what was seen")
    for item in items:
        seen = ", ".join(_seen(item))
        certainty = f"{item.screening.certainty:.2f}"
        table.add_row(item.case.label, certainty, Text(item.case.text), Text(seen or "nothing"))
    return table


def _plain(item: Checked) -> dict[str, Any]:
    return {
        "text": item.case.text,
        "label": item.case.label,
        "note": item.case.note,
        "certainty": round(item.screening.certainty, 4),
        "seen": _seen(item),
    }


def _seen(item: Checked) -> list[str]:
    """The patterns by their names, the heads with theirs: "reader: abuse"."""
    return [
        found.name if found.layer == "patterns" else f"{found.layer}: {found.name}"
        for found in item.screening.evidence
        if found.weight >= 0.1
    ]
