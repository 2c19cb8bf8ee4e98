"""`allears evaluate`: how good a model is: alone, against another, elsewhere, with less persona."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from allears.cli import evaluate_generation, evaluate_safety, evaluate_scorer, evaluate_understanding, options
from allears.cli.evaluate_tables import comparison_table, measures_table, retrieval_table, transfer_table
from allears.cli.options import flag, optional, value
from allears.cli.output import console, print_json
from allears.cli.progress import watched
from allears.corpora.plots import check_picture_path
from allears.errors import AllearsError
from allears.evaluation.measured_selection import (
    SelectionSetting,
    measure_persona_counts,
    measure_ranker,
    measure_transfer,
)
from allears.evaluation.names import by_short_name, short_name

app = typer.Typer(
    help="Measure models: rankers alone, against another, elsewhere, with less persona; readers head by head.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

app.command("understanding")(evaluate_understanding.understanding)
app.command("safety")(evaluate_safety.safety)
app.command("scorer")(evaluate_scorer.scorer)
app.command("generation")(evaluate_generation.generation)


@app.command("selection")
def evaluate_one(
    model: options.Ranker,
    *,
    corpus: options.CorpusName = "ed",
    split: options.Splits = "valid",
    root: options.Root = None,
    candidates: options.CandidateCount = 100,
    limit: options.SampleOfSplit = None,
    seed: options.SelectionSeed = 0,
    context_turns: options.ContextTurns = None,
    persona_sentences: int | None = optional("At most this many; 0 switches persona off.", min=0),
    against: options.Against = None,
    against_persona: int | None = optional(
        "At most this many persona sentences for that other model. Default: as for the first.", min=0
    ),
    pool: list[str] = value(
        [],
        "Also retrieval BLEU: a corpus (its train split) or a file with one response per line.",
        show_default=False,
    ),
    by_emotion: bool = flag("--by-emotion", "Also a row per emotion."),
    plot: Path | None = optional("Write a picture (.png, .svg or .pdf)."),
    batch: options.Batch = 32,
    device: options.Device = "cpu",
    as_json: options.JsonTables = False,
) -> None:
    """R@1, R@10, R@50 and MRR of the true response among the candidates, with 95% bootstrap intervals.

    Examples:

        allears evaluate selection default --corpus ed --split valid

        allears evaluate selection runs/ed-cobert --against runs/ed-bi-encoder --by-emotion --plot ed.png

        allears evaluate selection default --corpus talk.jsonl --against default --against-persona 0

        allears evaluate selection runs/ed-cobert --pool ed --pool dailydialog --limit 500 --json
    """
    if plot is not None:
        check_picture_path(plot)
    setting = SelectionSetting(split, root, limit, seed, device, watched, candidates, batch, context_turns)
    measured = measure_ranker(
        model,
        corpus,
        setting,
        persona_sentences=persona_sentences,
        against=against,
        against_persona=against_persona,
        pools=pool,
        by_emotion=by_emotion,
    )
    title, report = f"{corpus} {setting.title}", measured.report
    if plot is not None:
        from allears.evaluation.selection_plot import save_evaluation_picture

        save_evaluation_picture(by_short_name(measured.reports), title, plot)
    if as_json:
        record: dict[str, Any] = {"model": model, "corpus": corpus, "split": split} | report.flat()
        if persona_sentences is not None:
            record["persona_sentences"] = persona_sentences
        record |= measured.flat()
        if by_emotion:
            record["by_emotion"] = {name: part.flat() for name, part in report.by_emotion.items()}
        print_json(record)
        return
    console.print(measures_table(title, "model", by_short_name(measured.reports)))
    if measured.other is not None and measured.comparison is not None:
        console.print(comparison_table(short_name(model), short_name(measured.other), measured.comparison))
    if measured.retrieved:
        console.print(retrieval_table(measured.retrieved))
    if by_emotion:
        console.print(measures_table("by emotion", "emotion", report.by_emotion))


@app.command("transfer")
def transfer(
    models: list[str] = typer.Argument(help="Run folders or bundles, one row each."),
    *,
    corpora: list[str] = value(..., "A corpus to test on; may be given several times.", "--corpus"),
    split: options.Splits = "valid",
    root: options.Root = None,
    candidates: options.CandidateCount = 100,
    limit: options.SampleOfSplit = None,
    seed: options.SelectionSeed = 0,
    batch: options.Batch = 32,
    device: options.Device = "cpu",
    as_json: options.JsonTables = False,
) -> None:
    """Train on A, test on B: R@1 of every model on every corpus, as a matrix.

    Example:

        allears evaluate transfer runs/ed-cobert runs/reddit-cobert --corpus ed --corpus pairs.jsonl
    """
    setting = SelectionSetting(split, root, limit, seed, device, watched, candidates, batch)
    models, corpora = list(dict.fromkeys(models)), list(dict.fromkeys(corpora))
    reports = measure_transfer(models, corpora, setting)
    if as_json:
        cells = [
            {"model": model, "corpus": corpus} | report.flat() for (model, corpus), report in reports.items()
        ]
        print_json({"split": split, "candidates": candidates, "seed": seed, "cells": cells})
        return
    console.print(transfer_table(setting.title, models, corpora, reports))


@app.command("persona")
def persona(
    model: options.Ranker,
    *,
    corpus: options.CorpusName = "ed",
    counts: str = value("0,1,2,5,10,20", "Numbers of persona sentences, comma-separated."),
    split: options.Splits = "valid",
    root: options.Root = None,
    candidates: options.CandidateCount = 100,
    limit: options.SampleOfSplit = None,
    seed: options.SelectionSeed = 0,
    context_turns: options.ContextTurns = None,
    batch: options.Batch = 32,
    device: options.Device = "cpu",
    as_json: options.JsonTables = False,
) -> None:
    """How much the respondent's persona helps: the same measures with more and more persona sentences.

    Example:

        allears evaluate persona runs/reddit-cobert --corpus pairs.jsonl --counts 0,1,2,5,10,20
    """
    setting = SelectionSetting(split, root, limit, seed, device, watched, candidates, batch, context_turns)
    reports = measure_persona_counts(model, corpus, _whole_numbers(counts), setting)
    if as_json:
        rows = [{"persona_sentences": number} | report.flat() for number, report in reports.items()]
        print_json({"model": model, "corpus": corpus, "split": split, "rows": rows})
        return
    rows_by_count = {str(number): report for number, report in reports.items()}
    title = f"{short_name(model)} on {corpus} {setting.title}"
    console.print(measures_table(title, "persona sentences", rows_by_count))


def _whole_numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise AllearsError(
            f"--counts takes whole numbers with commas between them, such as 0,5,10; got {text!r}"
        )
    return list(dict.fromkeys(int(part) for part in parts))
