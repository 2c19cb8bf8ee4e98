"""Pictures of an evaluation: the confusion matrix, and how honest the probabilities are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from allears.corpora.plots import GRID, INK, QUIET, STACK, SUPPORTER, check_picture_path
from allears.evaluation.picture import picture, picture_style, write_picture
from allears.evaluation.understanding import UnderstandingReport
from allears.labels import ED_EMOTIONS, ED_GROUP_OF, ED_GROUPS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def save_confusion_picture(report: UnderstandingReport, title: str, path: Path) -> None:
    """Which labels are taken for which: a row per true label, in percent of that row."""
    check_picture_path(path)
    labels = report.head.labels
    order = _order(labels)
    counts = report.confusion[np.ix_(order, order)].astype(np.float64)
    totals = counts.sum(axis=1, keepdims=True)
    shares = 100 * np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    names = [_two_lines(labels[position]) for position in order]
    with picture_style():
        cell = 0.29 if _many(labels) else 0.52  # inches
        figure = picture(max(7.2, 2.6 + cell * len(labels)), max(4.4, 2.3 + cell * len(labels)))
        heading = f"accuracy {report.accuracy.value:.1f}%, macro-F1 {report.macro_f1:.1f}"
        figure.suptitle(title, fontsize=12.5, fontweight="bold", x=0.01, ha="left")
        axes = figure.subplots()
        _heat(axes, shares, names)
        axes.set_title(f"% of each true label · {heading}", loc="left", fontsize=10, color=QUIET, pad=10)
        write_picture(figure, path)


def save_calibration_picture(reports: Mapping[str, UnderstandingReport], title: str, path: Path) -> None:
    """How often each model is right where it is how sure; on the diagonal it is exactly as sure as it should be."""
    check_picture_path(path)
    with picture_style():
        figure = picture(6.2, 6.4)
        figure.suptitle(title, fontsize=13, fontweight="bold", x=0.01, ha="left")
        curve, sizes = figure.subplots(2, 1, height_ratios=(4, 1), sharex=True)
        curve.plot([0, 100], [0, 100], color=QUIET, linewidth=1, linestyle=(0, (4, 3)))
        for colour, (name, report) in zip(STACK, reports.items(), strict=False):
            bins = report.reliability
            curve.plot(
                100 * bins.confidence, 100 * bins.accuracy,
                color=colour, marker="o", markersize=4.5, linewidth=1.8, label=f"{name}: ECE {report.ece:.1f}",
            )  # fmt: skip
            sure = 100 * report.probabilities.max(axis=1)
            sizes.hist(sure, bins=np.linspace(0, 100, 31), color=colour, alpha=0.55)
        curve.set(ylim=(0, 101), ylabel="right, %")
        curve.legend(frameon=False, loc="upper left")
        sizes.set(xlim=(0, 101), xlabel="how sure the model is, %", ylabel="readings")
        for axes in (curve, sizes):
            axes.grid(color=GRID, linewidth=0.8)
            axes.set_axisbelow(True)
        write_picture(figure, path)


def _heat(axes: Axes, shares: np.ndarray, names: list[str]) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    many = _many(names)
    colours = LinearSegmentedColormap.from_list("calm", ["white", "#cfe0ec", SUPPORTER, "#1d4763"])
    axes.imshow(shares, cmap=colours, vmin=0, vmax=max(1.0, shares.max()), aspect="equal")
    size = 6.5 if many else 8.5
    for row, column in zip(*np.nonzero(shares >= (5 if many else 0.5)), strict=True):
        dark = shares[row, column] > 0.55 * shares.max()
        axes.text(
            column, row, f"{shares[row, column]:.0f}", ha="center", va="center",
            fontsize=size, color="white" if dark else INK,
        )  # fmt: skip
    places = range(len(names))
    longest = max(len(line) for name in names for line in name.split("\n"))
    turned: dict[str, Any] = {"rotation": 90} if many or longest * len(names) > 60 else {}
    axes.set_xticks(places, names, fontsize=8 if many else 9, **turned)
    axes.set_yticks(places, names, fontsize=8 if many else 9)
    # A fine white net keeps neighbours apart without a frame
    axes.set_xticks([place - 0.5 for place in places], minor=True)
    axes.set_yticks([place - 0.5 for place in places], minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="both", length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.set_xlabel("what the model says", color=QUIET)
    axes.set_ylabel("what is true", color=QUIET)


def _many(labels: Sequence[str]) -> bool:
    """Too many for a number in every cell."""
    return len(labels) > 20


def _order(labels: tuple[str, ...]) -> list[int]:
    """ED's emotions with their kin beside them, so that honest mistakes lie near the diagonal."""
    if labels != ED_EMOTIONS:
        return list(range(len(labels)))
    return sorted(range(len(labels)), key=lambda column: ED_GROUPS.index(ED_GROUP_OF[labels[column]]))


def _two_lines(label: str) -> str:
    """Long names in two lines, broken where they have a joint."""
    middle = len(label) / 2
    joints = [position for position, letter in enumerate(label) if letter in " +"]
    if len(label) <= 16 or not joints:
        return label
    joint = min(joints, key=lambda position: abs(position - middle))
    return label[: joint + 1].strip() + "\n" + label[joint + 1 :]
