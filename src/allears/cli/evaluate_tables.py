"""Tables of the `evaluate` commands. Numbers come in ready; here they only find their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich import box
from rich.table import Table
from rich.text import Text

from allears.evaluation.retrieval import RetrievalReport
from allears.evaluation.selection import MEASURES, SelectionComparison, SelectionReport
from allears.metrics.significance import Interval

HEADINGS = {"recall_at_1": "R@1", "recall_at_10": "R@10", "recall_at_50": "R@50", "mrr": "MRR"}


def short_name(model: str) -> str:
    """A run folder by its last part: what tells runs apart."""
    return Path(model).name or model


def measures_table(title: str, first_column: str, rows: Mapping[str, SelectionReport]) -> Table:
    """A row per report over n examples. Intervals stand beside R@1 and MRR alone: a row fits 80 columns."""
    table = empty_table(f"{title} (%, 95% interval)", first_column)
    for name in MEASURES:
        table.add_column(HEADINGS[name], justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    for label, report in rows.items():
        cells = [
            cell(interval) if name in ("recall_at_1", "mrr") else Text(f"{interval.value:.2f}")
            for name, interval in report.intervals.items()
        ]
        table.add_row(Text(label), *cells, f"{len(report.ranks):,}")
    return table


def comparison_table(first: str, second: str, comparison: SelectionComparison) -> Table:
    table = empty_table(f"{first} minus {second}, paired (points; p: bootstrap)", "measure")
    for heading in ("difference", "95% interval", "p", "better", "worse", "exact p"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, difference, test in (
        ("R@1, McNemar", comparison.recall_at_1, comparison.recall_test),
        ("MRR, sign test", comparison.mrr, comparison.rank_test),
    ):
        table.add_row(
            name,
            f"{difference.value:+.2f}",
            f"{difference.low:+.1f} to {difference.high:+.1f}",
            p_value(difference.p_value),
            f"{test.wins:,}",
            f"{test.losses:,}",
            p_value(test.p_value),
        )
    return table


def retrieval_table(rows: Mapping[str, RetrievalReport]) -> Table:
    table = empty_table("retrieval BLEU: best of the pool against gold", "pool")
    for heading in ("candidates", "AVG BLEU", "BLEU-4"):
        table.add_column(heading, justify="right")
    for name, report in rows.items():
        table.add_row(Text(name), f"{report.pool:,}", f"{report.avg_bleu:.2f}", f"{report.bleu_4:.2f}")
    return table


def transfer_table(
    title: str,
    models: Sequence[str],
    corpora: Sequence[str],
    reports: Mapping[tuple[str, str], SelectionReport],
) -> Table:
    """R@1 of every model (rows) on every corpus (columns)."""
    table = empty_table(f"{title} (R@1, %, 95% interval)", "trained run")
    for name in corpora:
        table.add_column(Text(name), justify="right", no_wrap=True)
    for model in models:
        cells = [cell(reports[model, name].intervals["recall_at_1"]) for name in corpora]
        table.add_row(Text(short_name(model)), *cells)
    return table


def empty_table(title: str, first_column: str) -> Table:
    table = Table(
        title=Text(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
    )
    table.add_column(first_column, no_wrap=True)
    return table


def cell(interval: Interval) -> Text:
    return Text.assemble(f"{interval.value:.2f}", (f" {interval.low:.1f}–{interval.high:.1f}", "dim"))


def p_value(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
