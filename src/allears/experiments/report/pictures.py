"""Pictures of those experiments that are figures in their papers, from their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from allears.corpora.plots import GRID, INK, SEEKER, STACK, SUPPORTER
from allears.evaluation.picture import picture, picture_style
from allears.experiments.contract import Experiment, Picture, Plan, Result
from allears.experiments.fingerprints import digest
from allears.experiments.setting import Setting
from allears.labels import POLARITY_OF

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def numbers_digest(experiment: Experiment, result: Result) -> str:
    """Stands inside the picture: `verify` sees from it whether the picture shows these numbers."""
    cells = [[*place, cell.plain()] for place, cell in sorted(result.cells.items())]
    return f"{experiment.name} {digest(cells)}"


def save_figure(experiment: Experiment, result: Result, path: Path) -> bool:
    """Draw what can be drawn as .svg; False where no cell that the picture needs has a number."""
    wanted = experiment.picture
    if wanted is None:
        return False
    plan = experiment.plan(Setting(small=result.small))
    columns = wanted.columns or plan.columns
    shown = {column: _values(plan, result, column) for column in columns}
    shown = {column: values for column, values in shown.items() if values}
    if not shown:
        return False
    title = experiment.title + (" (small run: says nothing)" if result.small else "")
    with picture_style():
        figure = picture(9.0, 4.6)
        figure.suptitle(title, x=0.01, ha="left", color=INK)
        if wanted.kind == "points":
            _points(figure, wanted, plan, shown, columns)
        else:
            _over_rows(figure.subplots(), wanted, plan, shown)
        figure.savefig(
            path,
            format="svg",
            facecolor="white",
            metadata={"Date": None, "Description": numbers_digest(experiment, result)},
        )
    return True


def _values(plan: Plan, result: Result, column: str) -> dict[str, float]:
    found = {}
    for row in plan.rows:
        cell = result.cells.get((row, column))
        if cell is not None and isinstance(cell.value, float | int):
            found[row] = float(cell.value)
    return found


def _over_rows(axes: Axes, wanted: Picture, plan: Plan, shown: Mapping[str, Mapping[str, float]]) -> None:
    """Lines or bars, a colour for each column; only rows that have a number."""
    rows = [row for row in plan.rows if any(row in values for values in shown.values())]
    width = 0.8 / len(shown)
    for number, (column, values) in enumerate(shown.items()):
        colour = STACK[number % len(STACK)]
        if wanted.kind == "bars":
            places = [rows.index(row) + (number + 0.5) * width - 0.4 for row in values]
            axes.bar(places, list(values.values()), width, color=colour, label=column)
        else:
            places = [float(rows.index(row)) for row in values]
            axes.plot(places, list(values.values()), marker="o", color=colour, label=column)
    many = len(rows) > 8
    axes.set_xticks(
        range(len(rows)), rows, rotation=60 if many else 0, ha="right" if many else "center", fontsize=8
    )
    axes.set(xlabel=wanted.x, ylabel=wanted.y)
    axes.grid(color=GRID, linewidth=0.8, axis="y")
    axes.set_axisbelow(True)
    if len(shown) > 1:
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _points(
    figure: Figure,
    wanted: Picture,
    plan: Plan,
    shown: Mapping[str, Mapping[str, float]],
    columns: Sequence[str],
) -> None:
    """A panel for every two columns; emotions in the colours of their polarity."""
    panels = figure.subplots(1, len(columns) // 2, squeeze=False)[0]
    for panel, first, second in zip(panels, columns[::2], columns[1::2], strict=True):
        across, up = shown.get(first, {}), shown.get(second, {})
        for row in plan.rows:
            if row in across and row in up:
                colour = SEEKER if POLARITY_OF.get(row) == "negative" else SUPPORTER
                panel.scatter(across[row], up[row], s=12, color=colour)
                panel.annotate(row, (across[row], up[row]), fontsize=6.5, color=colour)
        panel.set_title(first.rpartition(":")[0] or first, loc="left", fontsize=9)
        panel.set(xlabel=wanted.x, ylabel=wanted.y)
