"""`allears evaluate understanding`: how good a head is, alone or against another model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from allears.cli import evaluate_persona, options
from allears.cli.evaluate_tables import cell, difference_cells, p_value
from allears.cli.options import flag, optional, value
from allears.cli.output import console, plain_table, print_json
from allears.cli.progress import watched
from allears.corpora.heads import HEADS
from allears.corpora.plots import check_picture_path
from allears.errors import AllearsError
from allears.evaluation.measured_understanding import PERSONA, PERSONA_CORPUS, MeasuredHead, measure_head
from allears.evaluation.names import by_short_name, short_name
from allears.evaluation.setting import EvaluationSetting
from allears.evaluation.understanding import TOPS, HeadComparison, UnderstandingReport


def understanding(
    head: str = typer.Argument(
        help="A head, such as ed-emotion or strategy, or `persona`; `list` shows all of them."
    ),
    model: str = typer.Argument(
        "default",
        help="A reader's run folder (for persona, an extractor's), a bundle folder, `default` (the bundle that ships "
        "with allears), `fasttext` (fitted on the train split first), or `vader`.",
    ),
    *,
    corpus: str | None = optional(
        "Another corpus or .jsonl file that is labelled alike. Default: the head's own."
    ),
    split: options.Split = "valid",
    root: options.Root = None,
    limit: int | None = value(None, "A seeded sample of this many readings.", min=1),
    seed: int = value(0, "Draws the sample and the bootstrap.", min=0),
    past: str = value("gold", "The strategy head's past strategies: gold, or predicted by the model itself."),
    against: options.Against = None,
    plot: Path | None = optional("Write the confusion matrix (.png, .svg or .pdf)."),
    calibration_plot: Path | None = optional("Write the reliability curve."),
    encoder: str | None = optional(
        "persona only: also the similarity to gold of token states under this encoder or bundle."
    ),
    all_turns: bool = flag(
        "--all-turns", "persona only: also the turns of msc that extractors are trained on."
    ),
    check: bool = value(True, "persona only: drop sentences that their turn does not bear out first."),
    judgement: Path | None = optional("persona only: write PAL's form for a human study (.csv)."),
    device: options.Device = "cpu",
    as_json: options.JsonTables = False,
) -> None:
    """Accuracy, macro-F1, top-2, -3 and -5, and the calibration error of one head.

    Examples:

        allears evaluate understanding list

        allears evaluate understanding ed-emotion --split valid

        allears evaluate understanding ed-emotion fasttext --split valid

        allears evaluate understanding ed-emotion runs/ed-emotion --against fasttext --plot confusion.png

        allears evaluate understanding strategy runs/reader --past predicted --json

        allears evaluate understanding persona runs/persona-extractor --judgement form.csv
    """
    if head == "list":
        console.print(_heads_table())
        return
    setting = EvaluationSetting(split, root, limit, seed, device, watched)
    if head == PERSONA:
        _refuse({"--against": against, "--plot": plot, "--calibration-plot": calibration_plot}, PERSONA)
        how = {"all_turns": all_turns, "check": check, "as_json": as_json}
        evaluate_persona.persona(model, corpus, setting, encoder=encoder, judgement=judgement, **how)
        return
    _refuse(
        {"--encoder": encoder, "--all-turns": all_turns, "--no-check": not check, "--judgement": judgement},
        head,
    )
    for path in (plot, calibration_plot):
        if path is not None:
            check_picture_path(path)
    drawn = plot is not None
    measured = measure_head(head, model, corpus, setting, past=past, against=against, with_confusion=drawn)
    _draw(measured, plot, calibration_plot)
    if as_json:
        print_json(measured.record())
        return
    console.print(_measures_table(measured.title, measured.reports))
    for name, report in measured.reports.items():
        if report.rationale_f1 is not None:
            console.print(
                f"{short_name(name)}: rationales, token F1 {report.rationale_f1:.2f}", highlight=False
            )
    if against is not None and measured.comparison is not None:
        console.print(_comparison_table(short_name(model), short_name(against), measured.comparison))


def _refuse(options: dict[str, Any], head: str) -> None:
    """Options that mean nothing for a head."""
    given = [name for name, value in options.items() if value]
    if given:
        raise AllearsError(f"{given[0]} says nothing about the head {head}; leave it out")


def _draw(measured: MeasuredHead, plot: Path | None, calibration_plot: Path | None) -> None:
    if plot is None and calibration_plot is None:
        return
    from allears.evaluation.understanding_plots import save_calibration_picture, save_confusion_picture

    if plot is not None:
        save_confusion_picture(measured.report, f"{measured.title}: {short_name(measured.model)}", plot)
    if calibration_plot is not None:
        save_calibration_picture(by_short_name(measured.reports), measured.title, calibration_plot)


def _measures_table(title: str, reports: dict[str, UnderstandingReport]) -> Table:
    # Among two labels a true one is always among the first two: nothing to tell.
    tops = [k for k in TOPS if 1 < k < len(next(iter(reports.values())).head.labels)]
    headings = ("accuracy", "macro-F1", *(f"top-{k}" for k in tops), "ECE", "n")
    table = plain_table(f"{title} (%, 95% interval)", "model", numbers=headings)
    for name, report in reports.items():
        numbers = (report.macro_f1, *(report.top[k] for k in tops), report.ece)
        shown = (f"{number:.2f}" for number in numbers)
        table.add_row(Text(short_name(name)), cell(report.accuracy), *shown, f"{len(report.gold):,}")
    return table


def _comparison_table(first: str, second: str, comparison: HeadComparison) -> Table:
    headings = ("difference", "95% interval", "better", "worse", "McNemar's exact p")
    table = plain_table(f"{first} minus {second}, paired (points)", "measure", numbers=headings)
    test = comparison.test
    counts = f"{test.wins:,}", f"{test.losses:,}", p_value(test.p_value)
    table.add_row("accuracy", *difference_cells(comparison.accuracy), *counts)
    return table


def _heads_table() -> Table:
    table = plain_table("heads", "head")
    table.add_column("labels", justify="right")
    table.add_column("corpus", no_wrap=True)
    table.add_column("what it says")
    for head in HEADS.values():
        labels = f"{len(head.labels)}{'+' if head.multi_label else ''}"
        table.add_row(head.name, labels, head.corpus, head.about)
    told = "what a turn tells about the one who says it, in sentences"
    table.add_row(PERSONA, "–", PERSONA_CORPUS, told)
    return table
