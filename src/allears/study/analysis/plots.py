"""The report's pictures: means with their error, shares of wins, how emotions differ. SVG, for papers and pages."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from allears.labels import POLARITY_OF
from allears.study.analysis.annotations import groups, unit_values
from allears.study.analysis.judgements import Judgement
from allears.study.analysis.means import mean_with_sem
from allears.study.analysis.preferences import compared, preferred, score, verdicts
from allears.study.analysis.ratings import rated, values
from allears.study.blocks import ChoiceQuestion, shown_label
from allears.study.design import Design

# Okabe and Ito's colours, which most colour-blind people can tell apart
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
GREY = "#BBBBBB"


def plots(design: Design, rows: Sequence[Judgement], folder: Path) -> list[tuple[str, Path]]:
    """Draw what there is to draw: the captions and the files."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn: list[tuple[str, str, Figure]] = []
    if design.systems and rated(design):
        drawn.append(
            ("Mean ratings; bars are the standard error of the mean.", "ratings", _means(design, rows))
        )
        if any(row.emotion in POLARITY_OF for row in rows):
            drawn.append(("Mean ratings by emotion.", "emotions", _emotions(design, rows)))
    if preferred(design):
        drawn.append(("Wins, ties and losses.", "wins", _wins(design, rows)))
    if not design.systems and any(isinstance(each, ChoiceQuestion) for each in design.questions):
        drawn.append(("Annotations by group.", "groups", _groups(design, rows)))
    found = []
    for caption, name, figure in drawn:
        path = folder / f"{name}.svg"
        figure.tight_layout()
        # no date and no random ids inside: the same answers give the same file
        with rc_context({"svg.hashsalt": "allears"}):
            FigureCanvasSVG(figure).print_svg(path, metadata={"Date": None})
        found.append((caption, path))
    return found


def _means(design: Design, rows: Sequence[Judgement]) -> Figure:
    questions = rated(design)
    figure = Figure(figsize=(1.6 + 1.8 * len(questions), 3.4))
    axes = figure.subplots()
    width = 0.8 / len(design.systems)
    for place, system in enumerate(design.systems):
        means = [mean_with_sem(values(rows, question.key, system.name)) for question in questions]
        axes.bar(
            [number + width * (place - (len(design.systems) - 1) / 2) for number in range(len(questions))],
            [0.0 if isnan(mean.value) else mean.value for mean in means],
            width,
            yerr=[0.0 if isnan(mean.sem) else mean.sem for mean in means],
            capsize=3,
            color=COLOURS[place % len(COLOURS)],
            label=system.name,
        )
    axes.set_xticks(range(len(questions)), [shown_label(question) for question in questions])
    axes.set_ylim(1, max(question.points for question in questions))
    axes.set_ylabel("mean rating")
    axes.legend(fontsize=8)
    return figure


def _emotions(design: Design, rows: Sequence[Judgement]) -> Figure:
    question = rated(design)[0]
    emotions = sorted({row.emotion for row in rows if row.emotion})
    figure = Figure(figsize=(7, 1.2 + 0.24 * len(emotions)))
    axes = figure.subplots()
    for place, system in enumerate(design.systems):
        means = [
            mean_with_sem(values([row for row in rows if row.emotion == emotion], question.key, system.name))
            for emotion in emotions
        ]
        axes.errorbar(
            [mean.value for mean in means],
            [number + 0.16 * (place - (len(design.systems) - 1) / 2) for number in range(len(emotions))],
            xerr=[0.0 if isnan(mean.sem) else mean.sem for mean in means],
            fmt="o",
            markersize=4,
            color=COLOURS[place % len(COLOURS)],
            label=system.name,
        )
    axes.set_yticks(range(len(emotions)), emotions)
    axes.set_xlim(1, question.points)
    axes.set_xlabel(shown_label(question))
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize=8)
    return figure


def _wins(design: Design, rows: Sequence[Judgement]) -> Figure:
    found = []
    for question in preferred(design):
        decided, _ = verdicts(design, rows, question.key)
        found += [(shown_label(question), score(decided, one, other)) for one, other in compared(design)]
    figure = Figure(figsize=(7, 1.2 + 0.42 * len(found)))
    axes = figure.subplots()
    for place, (_, each) in enumerate(reversed(found)):
        start = 0.0
        for part, colour in ((each.wins, COLOURS[0]), (each.ties, GREY), (each.losses, COLOURS[1])):
            share = 100 * part / each.count if each.count else 0.0
            axes.barh(place, share, left=start, color=colour)
            if share >= 6:
                ink = "white" if colour == COLOURS[0] else "black"
                axes.text(
                    start + share / 2, place, f"{share:.0f}", ha="center", va="center", color=ink, fontsize=8
                )
            start += share
    names = [f"{label}: {each.system} vs. {each.against}" for label, each in reversed(found)]
    axes.set_yticks(range(len(found)), names)
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of decisions: the first wins (blue), tie (grey), the second wins (orange)")
    return figure


def _groups(design: Design, rows: Sequence[Judgement]) -> Figure:
    questions = [each for each in design.questions if isinstance(each, ChoiceQuestion)]
    names = groups(design, rows)
    figure = Figure(figsize=(2.2 + 1.8 * len(questions), 3.4))
    axes = figure.subplots()
    width = 0.8 / max(1, len(names))
    for place, name in enumerate(names):
        shown = []
        for question in questions:
            if question.options[0].value is not None:
                mine = [value for group, value in unit_values(rows, question).values() if group == name]
            else:  # how often the first option was chosen
                chosen = [row for row in rows if row.question == question.key and row.group == name]
                mine = [float(row.value == question.options[0].key) for row in chosen]
            shown.append(mean_with_sem(mine))
        axes.bar(
            [number + width * (place - (len(names) - 1) / 2) for number in range(len(questions))],
            [0.0 if isnan(mean.value) else mean.value for mean in shown],
            width,
            yerr=[0.0 if isnan(mean.sem) else mean.sem for mean in shown],
            capsize=3,
            color=COLOURS[place % len(COLOURS)],
            label=name or "all",
        )
    labels = [
        shown_label(each)
        if each.options[0].value is not None
        else f"{shown_label(each)}: {each.options[0].key}"
        for each in questions
    ]
    axes.set_xticks(range(len(questions)), labels)
    axes.axhline(0, color="black", linewidth=0.6)
    axes.legend(fontsize=8)
    return figure
