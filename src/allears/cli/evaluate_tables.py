"""Tables of the `evaluate` commands. Numbers come in ready; here they only find their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from allears.cli.output import plain_table
from allears.evaluation.names import short_name
from allears.evaluation.retrieval import RetrievalReport
from allears.evaluation.selection import MEASURES, SelectionComparison, SelectionReport
from allears.metrics.significance import Difference, Interval

HEADINGS = {"recall_at_1": "R@1", "recall_at_10": "R@10", "recall_at_50": "R@50", "mrr": "MRR"}


def measures_table(title: str, first_column: str, rows: Mapping[str, SelectionReport]) -> Table:
    """A row per report over n examples. Intervals stand beside R@1 and MRR alone: a row fits 80 columns."""
    headings = [HEADINGS[name] for name in MEASURES]
    table = plain_table(f"{title} (%, 95% interval)", first_column, numbers=[*headings, "n"])
    for label, report in rows.items():
        cells = [
            cell(interval) if name in ("recall_at_1", "mrr") else Text(f"{interval.value:.2f}")
            for name, interval in report.intervals.items()
        ]
        table.add_row(Text(label), *cells, f"{len(report.ranks):,}")
    return table


def comparison_table(first: str, second: str, comparison: SelectionComparison) -> Table:
    headings = ("difference", "95% interval", "p", "better", "worse", "exact p")
    title = f"{first} minus {second}, paired (points; p: bootstrap)"
    table = plain_table(title, "measure", numbers=headings)
    for name, difference, test in (
        ("R@1, McNemar", comparison.recall_at_1, comparison.recall_test),
        ("MRR, sign test", comparison.mrr, comparison.rank_test),
    ):
        counts = f"{test.wins:,}", f"{test.losses:,}", p_value(test.p_value)
        table.add_row(name, *difference_cells(difference), p_value(difference.p_value), *counts)
    return table


def retrieval_table(rows: Mapping[str, RetrievalReport]) -> Table:
    table = plain_table("retrieval BLEU: best of the pool against gold", "pool")
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
    table = plain_table(f"{title} (R@1, %, 95% interval)", "trained run", numbers=corpora)
    for model in models:
        cells = [cell(reports[model, name].intervals["recall_at_1"]) for name in corpora]
        table.add_row(Text(short_name(model)), *cells)
    return table


def named_values_table(
    title: str, heading: str, shown: Mapping[str, str], numbers: Mapping[str, float], exact: str = ""
) -> Table:
    """A row for each measure that there is, by its name for people; `exact` is the one with three digits."""
    table = plain_table(title, "measure", numbers=[heading])
    for name, label in shown.items():
        if name in numbers:
            table.add_row(label, f"{numbers[name]:.{3 if name == exact else 2}f}")
    return table


def cell(interval: Interval) -> Text:
    return Text.assemble(f"{interval.value:.2f}", (f" {interval.low:.1f}–{interval.high:.1f}", "dim"))


def difference_cells(difference: Difference) -> tuple[str, str]:
    return f"{difference.value:+.2f}", f"{difference.low:+.1f} to {difference.high:+.1f}"


def p_value(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
