"""`allears evaluate understanding`: how good a head is, alone or against another model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from allears.cli import evaluate_persona
from allears.cli.evaluate_tables import cell, empty_table, p_value, short_name
from allears.cli.output import console
from allears.cli.progress import watched
from allears.corpora.heads import HEADS, Head
from allears.corpora.heads import head as head_named
from allears.corpora.plots import check_picture_path
from allears.errors import AllearsError
from allears.evaluation.understanding import (
    TOPS,
    HeadComparison,
    UnderstandingReport,
    compare,
    evaluate_understanding,
)
from allears.models.reader.loading import load_reading_model


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
    corpus: str | None = typer.Option(
        None,
        "--corpus",
        help="Another corpus or .jsonl file that is labelled alike. Default: the head's own.",
        show_default=False,
    ),
    split: str = typer.Option("valid", "--split", help="train, valid or test."),
    root: Path | None = typer.Option(
        None,
        "--root",
        help="Folder of all corpora, one corpus's folder, or the very file. Default: $ALLEARS_DATA.",
        show_default=False,
    ),
    limit: int | None = typer.Option(None, "--limit", min=1, help="A seeded sample of this many readings."),
    seed: int = typer.Option(0, "--seed", min=0, help="Draws the sample and the bootstrap."),
    past: str = typer.Option(
        "gold", "--past", help="The strategy head's past strategies: gold, or predicted by the model itself."
    ),
    against: str | None = typer.Option(
        None, "--against", help="Another model, for a paired comparison.", show_default=False
    ),
    plot: Path | None = typer.Option(
        None, "--plot", help="Write the confusion matrix (.png, .svg or .pdf).", show_default=False
    ),
    calibration_plot: Path | None = typer.Option(
        None, "--calibration-plot", help="Write the reliability curve.", show_default=False
    ),
    encoder: str | None = typer.Option(
        None,
        "--encoder",
        help="persona only: also the similarity to gold of token states under this encoder or bundle.",
        show_default=False,
    ),
    all_turns: bool = typer.Option(
        False, "--all-turns", help="persona only: also the turns of msc that extractors are trained on."
    ),
    check: bool = typer.Option(
        True,
        "--check/--no-check",
        help="persona only: drop sentences that their turn does not bear out first.",
    ),
    judgement: Path | None = typer.Option(
        None,
        "--judgement",
        help="persona only: write PAL's form for a human study (.csv).",
        show_default=False,
    ),
    device: str = typer.Option("cpu", "--device", help="cpu or cuda."),
    as_json: bool = typer.Option(
        False, "--json", help="Print one JSON object for machines instead of tables."
    ),
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
    only_persona = {
        "--encoder": encoder,
        "--all-turns": all_turns,
        "--no-check": not check,
        "--judgement": judgement,
    }
    if head == evaluate_persona.PERSONA:
        _refuse({"--against": against, "--plot": plot, "--calibration-plot": calibration_plot}, "persona")
        evaluate_persona.persona(
            model,
            corpus=corpus,
            split=split,
            root=root,
            limit=limit,
            seed=seed,
            encoder=encoder,
            all_turns=all_turns,
            check=check,
            judgement=judgement,
            device=device,
            as_json=as_json,
        )
        return
    _refuse(only_persona, head)
    # Whatever can be wrong is found before the long part begins.
    chosen = head_named(head)
    for path in (plot, calibration_plot):
        if path is not None:
            check_picture_path(path)
    if chosen.multi_label and plot is not None:
        raise AllearsError(f"{head} gives several labels at once, which a confusion matrix cannot show")
    names = list(dict.fromkeys([model] if against is None else [model, against]))
    models = {name: load_reading_model(name, chosen, root, corpus=corpus, device=device) for name in names}
    readings = chosen.read(split, root, corpus=corpus)
    reports = {
        name: evaluate_understanding(each, chosen, readings, past=past, seed=seed, limit=limit, watch=watched)
        for name, each in models.items()
    }
    report = reports[model]
    comparison = None if against is None else compare(report, reports[against], seed)
    where = corpus or chosen.corpus
    shown = f", {past} past strategies" if chosen.name == "strategy" else ""
    title = f"{head} on {where} {split}{shown}"
    _draw(reports, model, title, plot, calibration_plot)
    if as_json:
        record: dict[str, Any] = {"head": head, "model": model, "corpus": where, "split": split}
        record |= {"seed": seed} | report.flat()
        if chosen.name == "strategy":
            record["past"] = past
        if against is not None and comparison is not None:
            record |= {"against": against} | _flat_comparison(comparison, reports[against])
        typer.echo(json.dumps(record))
        return
    console.print(_measures_table(title, reports))
    for name, each in reports.items():
        if each.rationale_f1 is not None:
            console.print(
                f"{short_name(name)}: rationales, token F1 {each.rationale_f1:.2f}", highlight=False
            )
    if against is not None and comparison is not None:
        console.print(_comparison_table(short_name(model), short_name(against), comparison))


def _refuse(options: dict[str, Any], head: str) -> None:
    """Options that mean nothing for a head."""
    given = [name for name, value in options.items() if value]
    if given:
        raise AllearsError(f"{given[0]} says nothing about the head {head}; leave it out")


def _draw(
    reports: dict[str, UnderstandingReport],
    model: str,
    title: str,
    plot: Path | None,
    calibration_plot: Path | None,
) -> None:
    if plot is None and calibration_plot is None:
        return
    from allears.evaluation.understanding_plots import save_calibration_picture, save_confusion_picture

    if plot is not None:
        save_confusion_picture(reports[model], f"{title}: {short_name(model)}", plot)
    if calibration_plot is not None:
        by_short_name = {short_name(name): report for name, report in reports.items()}
        shown = by_short_name if len(by_short_name) == len(reports) else reports
        save_calibration_picture(shown, title, calibration_plot)


def _measures_table(title: str, reports: dict[str, UnderstandingReport]) -> Table:
    table = empty_table(f"{title} (%, 95% interval)", "model")
    # Among two labels a true one is always among the first two: nothing to tell.
    tops = [k for k in TOPS if 1 < k < len(next(iter(reports.values())).head.labels)]
    for heading in ("accuracy", "macro-F1", *(f"top-{k}" for k in tops), "ECE", "n"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, report in reports.items():
        numbers = (report.macro_f1, *(report.top[k] for k in tops), report.ece)
        table.add_row(
            Text(short_name(name)),
            cell(report.accuracy),
            *(f"{number:.2f}" for number in numbers),
            f"{len(report.gold):,}",
        )
    return table


def _comparison_table(first: str, second: str, comparison: HeadComparison) -> Table:
    table = empty_table(f"{first} minus {second}, paired (points)", "measure")
    for heading in ("difference", "95% interval", "better", "worse", "McNemar's exact p"):
        table.add_column(heading, justify="right", no_wrap=True)
    difference, test = comparison.accuracy, comparison.test
    table.add_row(
        "accuracy",
        f"{difference.value:+.2f}",
        f"{difference.low:+.1f} to {difference.high:+.1f}",
        f"{test.wins:,}",
        f"{test.losses:,}",
        p_value(test.p_value),
    )
    return table


def _heads_table() -> Table:
    table = empty_table("heads", "head")
    table.add_column("labels", justify="right")
    table.add_column("corpus", no_wrap=True)
    table.add_column("what it says")
    for each in HEADS.values():
        table.add_row(each.name, _count(each), each.corpus, each.about)
    table.add_row(
        evaluate_persona.PERSONA, "–", "msc", "what a turn tells about the one who says it, in sentences"
    )
    return table


def _count(head: Head) -> str:
    return f"{len(head.labels)}{'+' if head.multi_label else ''}"


def _flat_comparison(comparison: HeadComparison, other: UnderstandingReport) -> dict[str, float | int]:
    """Differences in points, first minus second. `p_value` is McNemar's exact test on accuracy."""
    return {
        "against_accuracy": other.accuracy.value,
        "against_macro_f1": other.macro_f1,
        "difference": comparison.accuracy.value,
        "difference_low": comparison.accuracy.low,
        "difference_high": comparison.accuracy.high,
        "better": comparison.test.wins,
        "worse": comparison.test.losses,
        "p_value": comparison.test.p_value,
        "p_value_bootstrap": comparison.accuracy.p_value,
    }
