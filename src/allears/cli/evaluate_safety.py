"""`allears evaluate safety`: what the crisis screen finds, what it raises for nothing, and what it misses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from allears.cli.evaluate_tables import cell, empty_table
from allears.cli.output import console
from allears.listener.safety.cases_file import read_cases, shipped_cases
from allears.listener.safety.evaluate import LAYERS, Checked, SafetyReport, evaluate_safety
from allears.listener.safety.screen import CrisisScreen


def safety(
    *,
    cases: Path | None = typer.Option(
        None,
        "--cases",
        help='A file of your own, {"text": ..., "label": ...} a line. Default: the shipped test cases.',
        show_default=False,
    ),
    bundle: str | None = typer.Option(
        None,
        "--bundle",
        help="Use the risk head of this bundle's reader as well (`default`: the one that ships with allears).",
        show_default=False,
    ),
    as_json: bool = typer.Option(
        False, "--json", help="Print one JSON object for machines instead of tables."
    ),
) -> None:
    """Recall and false alarms of the crisis screen on written cases, layer by layer, with every miss.

    Examples:

        allears evaluate safety

        allears evaluate safety --bundle default

        allears evaluate safety --cases my-messages.jsonl --json
    """
    read = shipped_cases("test") if cases is None else read_cases(cases)
    report = evaluate_safety(_screen(bundle), read)
    where = "shipped test cases" if cases is None else str(cases)
    if as_json:
        record: dict[str, Any] = {"cases": where, "bundle": bundle} | report.flat()
        record |= {"misses": [_plain(item) for item in report.misses]}
        record |= {"alarms": [_plain(item) for item in report.alarms]}
        typer.echo(json.dumps(record, ensure_ascii=False))
        return
    console.print(_shares(report, where))
    console.print(_layers(report))
    for title, items in (("missed", report.misses), ("false alarms", report.alarms)):
        if items:
            console.print(_list(f"{title} ({len(items)})", items))


def _screen(bundle: str | None) -> CrisisScreen:
    if bundle is None:
        return CrisisScreen()
    from allears.listener.safety.reader_head import reader_and_ngrams
    from allears.understanding.runtime import OnnxReader

    return CrisisScreen(reader_and_ngrams(OnnxReader.from_bundle(bundle)))


def _shares(report: SafetyReport, where: str) -> Table:
    table = empty_table(f"crisis screen on {where} (%, 95% Wilson interval)", "")
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("n", justify="right")
    table.add_row("dangers found (recall)", cell(report.recall), f"{report.dangers:,}")
    for danger, found in report.by_danger.items():
        table.add_row(f"  {danger.value}", cell(found), "")
    table.add_row("false alarms", cell(report.false_alarms), f"{report.harmless:,}")
    table.add_row("named the right danger", cell(report.kind_named), "")
    return table


def _layers(report: SafetyReport) -> Table:
    table = empty_table("layers, each alone (%)", "layer")
    for heading in ("recall", "false alarms", "found by no other"):
        table.add_column(heading, justify="right", no_wrap=True)
    for layer in LAYERS:
        table.add_row(
            layer,
            cell(report.layer_recall[layer]),
            cell(report.layer_false_alarms[layer]),
            f"{report.only[layer]:,}",
        )
    table.add_row("both together only", "", "", f"{report.together:,}")
    return table


def _list(title: str, items: tuple[Checked, ...]) -> Table:
    table = empty_table(title, "label")
    for heading in ("certainty", "message", "what was seen"):
        table.add_column(heading)
    for item in items:
        seen = ", ".join(found.name for found in item.screening.evidence if found.weight >= 0.1)
        table.add_row(
            item.case.label, f"{item.screening.certainty:.2f}", Text(item.case.text), Text(seen or "nothing")
        )
    return table


def _plain(item: Checked) -> dict[str, Any]:
    return {
        "text": item.case.text,
        "label": item.case.label,
        "note": item.case.note,
        "certainty": round(item.screening.certainty, 4),
        "seen": [found.name for found in item.screening.evidence if found.weight >= 0.1],
    }
