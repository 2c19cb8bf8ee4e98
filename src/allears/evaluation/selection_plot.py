"""A picture of an evaluation: recall at every k, and R@1 by emotion where examples carry one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allears.corpora.plots import GRID, INK, QUIET, STACK, check_picture_path
from allears.errors import AllearsError
from allears.evaluation.selection import SelectionReport
from allears.metrics.ranking import recall_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def save_evaluation_picture(reports: Mapping[str, SelectionReport], title: str, path: Path) -> None:
    """Draw one or more models' reports (by name) and write the picture to `path`."""
    check_picture_path(path)
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    emotions = next(iter(reports.values())).by_emotion
    style: dict[Any, Any] = {
        "font.size": 10,
        "text.color": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with mpl.rc_context(style):
        figure = Figure(
            figsize=(11 if emotions else 6.5, max(4.2, 1.4 + 0.24 * len(emotions))), layout="constrained"
        )
        figure.suptitle(title, fontsize=13, fontweight="bold", x=0.01, ha="left")
        panels = figure.subplots(1, 2 if emotions else 1, squeeze=False)[0]
        _draw_recall(panels[0], reports)
        if emotions:
            _draw_emotions(panels[1], reports)
        try:
            figure.savefig(path, dpi=150, facecolor="white")
        except OSError as error:
            raise AllearsError(f"{path}: cannot write the picture ({error.strerror or error})") from error


def _draw_recall(axes: Axes, reports: Mapping[str, SelectionReport]) -> None:
    for colour, (name, report) in zip(STACK, reports.items(), strict=False):
        steps = range(1, report.candidates + 1)
        interval = report.intervals["recall_at_1"]
        label = f"{name}: R@1 {interval.value:.1f} ({interval.low:.1f} to {interval.high:.1f})"
        axes.plot(
            steps, [recall_at(report.ranks, k) for k in steps], color=colour, label=label, linewidth=1.8
        )
        axes.errorbar(
            1, interval.value, [[interval.value - interval.low], [interval.high - interval.value]],
            color=colour, capsize=3, marker="o", markersize=4,
        )  # fmt: skip
    axes.set(xscale="log", ylim=(0, 101), xlabel="k (first k candidates)", ylabel="R@k, %")
    marks = [k for k in (1, 2, 5, 10, 20, 50, 100, 1000) if k <= next(iter(reports.values())).candidates]
    axes.set_xticks(marks, [str(k) for k in marks], minor=False)
    axes.minorticks_off()
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, loc="lower right")


def _draw_emotions(axes: Axes, reports: Mapping[str, SelectionReport]) -> None:
    """One row per emotion, hardest first; a dot and its interval per model."""
    first = next(iter(reports.values()))
    ordered = sorted(first.by_emotion, key=lambda emotion: first.by_emotion[emotion].recall_at_1)
    for position, (colour, report) in enumerate(zip(STACK, reports.values(), strict=False)):
        intervals = [report.by_emotion[emotion].intervals["recall_at_1"] for emotion in ordered]
        rows = [row + 0.25 * position for row in range(len(ordered))]
        axes.errorbar(
            [interval.value for interval in intervals],
            rows,
            xerr=[
                [interval.value - interval.low for interval in intervals],
                [interval.high - interval.value for interval in intervals],
            ],
            fmt="o", color=colour, markersize=4, linewidth=1, capsize=2,
        )  # fmt: skip
    axes.set_yticks(range(len(ordered)), ordered)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("R@1 by emotion, % (95% interval)", color=QUIET)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_ylim(-0.7, len(ordered) - 0.2)
