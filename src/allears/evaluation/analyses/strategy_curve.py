"""PAL, Figure 4: how often the true strategy is among the n likeliest, for every n."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from allears.corpora.heads import Head
from allears.corpora.heads import head as head_named
from allears.corpora.plots import GRID, STACK, check_picture_path
from allears.errors import AllearsError
from allears.evaluation.picture import picture, picture_style, write_picture
from allears.evaluation.setting import EvaluationSetting
from allears.evaluation.understanding import PAST, UnderstandingReport, evaluate_understanding
from allears.metrics.classification import top_hits
from allears.models.reader.loading import load_reading_model
from allears.runtime.classifier import Probabilities
from allears.text.reading import Reading

FREQUENCY = "frequency"


class FrequencyModel:
    """What knows no conversation would say: the labels, each as likely as it is in training."""

    def __init__(self, head: Head, train: Sequence[Reading]):
        counts = Counter(label for reading in train for label in reading.labels)
        self.shares = np.array([counts[label] / len(train) for label in head.labels])

    def probabilities(self, head: Head, readings: Sequence[Reading]) -> Probabilities:
        return np.tile(self.shares, (len(readings), 1))


@dataclass(frozen=True, slots=True)
class StrategyCurves:
    """Each model's accuracies, and how many turns they are about."""

    head: Head
    curves: dict[str, tuple[float, ...]]
    examples: int


def strategy_curves(
    models: Sequence[str], corpus: str, setting: EvaluationSetting, *, past: str = "gold"
) -> StrategyCurves:
    """Of readers by their names, and of `frequency`, on a corpus with strategies."""
    if past not in PAST:
        raise AllearsError(f"--past takes {' or '.join(PAST)}; got {past!r}")
    head, root = head_named("strategy"), setting.root
    readers = {
        name: FrequencyModel(head, head.read("train", root, corpus=corpus))
        if name == FREQUENCY
        else load_reading_model(name, head, root, corpus=corpus, device=setting.device)
        for name in dict.fromkeys(models)
    }
    readings = head.read(setting.split, root, corpus=corpus)
    curves = {
        name: top_n_curve(evaluate_understanding(reader, head, readings, past=past, watch=setting.watch))
        for name, reader in readers.items()
    }
    return StrategyCurves(head, curves, len(readings))


def top_n_curve(report: UnderstandingReport) -> tuple[float, ...]:
    """Top-1, top-2, ... accuracy up to all labels, as percentages."""
    return tuple(
        float(top_hits(report.probabilities, report.gold, n).mean())
        for n in range(1, len(report.head.labels) + 1)
    )


def save_curve_picture(curves: Mapping[str, Sequence[float]], title: str, path: Path) -> None:
    """A line per model; the last point, where every label is among the n, is left out."""
    check_picture_path(path)
    with picture_style():
        figure = picture(7.2, 4.6)
        figure.suptitle(title, fontsize=12.5, fontweight="bold", x=0.01, ha="left")
        axes = figure.subplots()
        for number, (name, curve) in enumerate(curves.items()):
            shown = curve[:-1]
            colour = STACK[number % len(STACK)]
            axes.plot(range(1, len(shown) + 1), shown, color=colour, marker="o", linewidth=1.8, label=name)
            if number == 0:  # every line's numbers would lie on each other
                for n, value in enumerate(shown, 1):
                    axes.annotate(
                        f"{value:.1f}", (n, value), xytext=(0, 8), textcoords="offset points",
                        ha="center", fontsize=8.5, color=colour,
                    )  # fmt: skip
        longest = max(len(curve) for curve in curves.values())
        axes.set(
            xticks=range(1, longest),
            ylim=(0, 105),
            xlabel="n",
            ylabel="true strategy among the n likeliest, %",
        )
        axes.grid(color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, loc="lower right")
        write_picture(figure, path)
