"""`allears evaluate`: how good a model is: alone, against another, elsewhere, with less persona."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import typer

from allears.cli import evaluate_generation, evaluate_safety, evaluate_understanding
from allears.cli.evaluate_tables import (
    comparison_table,
    measures_table,
    retrieval_table,
    short_name,
    transfer_table,
)
from allears.cli.output import console
from allears.cli.progress import watched
from allears.corpora.plots import check_picture_path
from allears.corpora.split_examples import split_examples
from allears.errors import AllearsError
from allears.evaluation.retrieval import RetrievalReport, read_pool, retrieval_bleu
from allears.evaluation.selection import SelectionComparison, SelectionReport, compare, evaluate_selection
from allears.metrics.bleu import sacrebleu_metrics
from allears.models.selection.loading import load_selector

app = typer.Typer(
    help="Measure models: rankers alone, against another, elsewhere, with less persona; readers head by head.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

app.command("understanding")(evaluate_understanding.understanding)
app.command("safety")(evaluate_safety.safety)
app.command("generation")(evaluate_generation.generation)

MODEL = typer.Argument(
    help="A run folder, a bundle folder, or `default` (the model that ships with allears)."
)
CORPUS = typer.Option(
    "ed", "--corpus", help="A corpus (see `allears data list`) or a .jsonl file in our schema."
)
CORPORA = typer.Option(..., "--corpus", help="A corpus to test on; may be given several times.")
SPLIT = typer.Option("valid", "--split", help="train, valid or test; several joined: valid+test.")
ROOT = typer.Option(
    None,
    "--root",
    help="Folder of all corpora, one corpus's folder, or the very file. Default: $ALLEARS_DATA.",
    show_default=False,
)
CANDIDATES = typer.Option(100, "--candidates", help="How many responses the true one is ranked among.")
LIMIT = typer.Option(
    None,
    "--limit",
    min=1,
    help="A seeded sample of this many examples; candidates come from the whole split.",
)
SEED = typer.Option(0, "--seed", min=0, help="Draws the candidates, the sample and the bootstrap.")
TURNS = typer.Option(
    None,
    "--context-turns",
    min=1,
    help="Turns of context. Default: as the corpus's paper.",
    show_default=False,
)
BATCH = typer.Option(32, "--batch", min=1, help="Contexts scored together.")
DEVICE = typer.Option("cpu", "--device", help="cpu or cuda.")
JSON = typer.Option(False, "--json", help="Print one JSON object for machines instead of tables.")


@app.command("selection")
def evaluate_one(
    model: str = MODEL,
    *,
    corpus: str = CORPUS,
    split: str = SPLIT,
    root: Path | None = ROOT,
    candidates: int = CANDIDATES,
    limit: int | None = LIMIT,
    seed: int = SEED,
    context_turns: int | None = TURNS,
    persona_sentences: int | None = typer.Option(
        None,
        "--persona-sentences",
        min=0,
        help="At most this many; 0 switches persona off.",
        show_default=False,
    ),
    against: str | None = typer.Option(
        None, "--against", help="Another model, for a paired comparison.", show_default=False
    ),
    against_persona: int | None = typer.Option(
        None,
        "--against-persona",
        min=0,
        help="At most this many persona sentences for that other model. Default: as for the first.",
        show_default=False,
    ),
    pool: list[str] = typer.Option(
        [],
        "--pool",
        help="Also retrieval BLEU: a corpus (its train split) or a file with one response per line.",
        show_default=False,
    ),
    by_emotion: bool = typer.Option(False, "--by-emotion", help="Also a row per emotion."),
    plot: Path | None = typer.Option(
        None, "--plot", help="Write a picture (.png, .svg or .pdf).", show_default=False
    ),
    batch: int = BATCH,
    device: str = DEVICE,
    as_json: bool = JSON,
) -> None:
    """R@1, R@10, R@50 and MRR of the true response among the candidates, with 95% bootstrap intervals.

    Examples:

        allears evaluate selection default --corpus ed --split valid

        allears evaluate selection runs/ed-cobert --against runs/ed-bi-encoder --by-emotion --plot ed.png

        allears evaluate selection default --corpus talk.jsonl --against default --against-persona 0

        allears evaluate selection runs/ed-cobert --pool ed --pool dailydialog --limit 500 --json
    """
    # Whatever can be wrong is found before the long part begins.
    if plot is not None:
        check_picture_path(plot)
    if pool:
        sacrebleu_metrics()
    sides = {model: (model, persona_sentences)}
    other = _other_name(against, against_persona)
    if against is not None and other is not None:
        sides[other] = (against, persona_sentences if against_persona is None else against_persona)
    selectors = {
        name: load_selector(place, device, persona_sentences=sentences)
        for name, (place, sentences) in sides.items()
    }
    examples = split_examples(corpus, split, root, context_turns)
    if by_emotion and not any(example.labels.get("emotion") for example in examples):
        raise AllearsError(f"the {split} split of {corpus} carries no emotions; leave out --by-emotion")
    pools = _pools(pool, root)

    reports = {
        name: evaluate_selection(
            selector,
            examples,
            candidates,
            seed,
            batch=batch,
            persona_sentences=sides[name][1],
            limit=limit,
            watch=watched,
        )
        for name, selector in selectors.items()
    }
    report = reports[model]
    comparison = None if other is None else compare(report, reports[other])
    sampled = [examples[position] for position in report.positions]
    retrieved = {
        name: retrieval_bleu(
            selectors[model], sampled, texts, batch=batch, persona_sentences=persona_sentences, watch=watched
        )
        for name, texts in pools.items()
    }
    title = f"{corpus} {split}, {candidates} candidates, seed {seed}"
    if plot is not None:
        from allears.evaluation.selection_plot import save_evaluation_picture

        save_evaluation_picture(_by_short_name(reports), title, plot)
    if as_json:
        record: dict[str, Any] = {"model": model, "corpus": corpus, "split": split} | report.flat()
        if persona_sentences is not None:
            record["persona_sentences"] = persona_sentences
        if other is not None and comparison is not None:
            record |= {"against": other} | _flat_comparison(comparison, reports[other])
        record |= _flat_retrieval(retrieved)
        if by_emotion:
            record["by_emotion"] = {name: part.flat() for name, part in report.by_emotion.items()}
        typer.echo(json.dumps(record))
        return
    console.print(measures_table(title, "model", _by_short_name(reports)))
    if other is not None and comparison is not None:
        console.print(comparison_table(short_name(model), short_name(other), comparison))
    if retrieved:
        console.print(retrieval_table(retrieved))
    if by_emotion:
        console.print(measures_table("by emotion", "emotion", report.by_emotion))


def _other_name(against: str | None, persona: int | None) -> str | None:
    """What the other side of a comparison is called: the same model with less persona needs a name of its own."""
    if against is None and persona is not None:
        raise AllearsError("--against-persona says what the other model gets: name that model with --against")
    return against if against is None or persona is None else f"{against}, persona {persona}"


@app.command("transfer")
def transfer(
    models: list[str] = typer.Argument(help="Run folders or bundles, one row each."),
    *,
    corpora: list[str] = CORPORA,
    split: str = SPLIT,
    root: Path | None = ROOT,
    candidates: int = CANDIDATES,
    limit: int | None = LIMIT,
    seed: int = SEED,
    batch: int = BATCH,
    device: str = DEVICE,
    as_json: bool = JSON,
) -> None:
    """Train on A, test on B: R@1 of every model on every corpus, as a matrix.

    Example:

        allears evaluate transfer runs/ed-cobert runs/reddit-cobert --corpus ed --corpus pairs.jsonl
    """
    selectors = {name: load_selector(name, device) for name in models}
    splits = {name: split_examples(name, split, root) for name in corpora}
    reports = {
        (model, corpus): evaluate_selection(
            selector, examples, candidates, seed, batch=batch, limit=limit, watch=watched
        )
        for model, selector in selectors.items()
        for corpus, examples in splits.items()
    }
    if as_json:
        cells = [
            {"model": model, "corpus": corpus} | report.flat() for (model, corpus), report in reports.items()
        ]
        typer.echo(json.dumps({"split": split, "candidates": candidates, "seed": seed, "cells": cells}))
        return
    title = f"{split}, {candidates} candidates, seed {seed}"
    console.print(transfer_table(title, list(selectors), list(splits), reports))


@app.command("persona")
def persona(
    model: str = MODEL,
    *,
    corpus: str = CORPUS,
    counts: str = typer.Option(
        "0,1,2,5,10,20", "--counts", help="Numbers of persona sentences, comma-separated."
    ),
    split: str = SPLIT,
    root: Path | None = ROOT,
    candidates: int = CANDIDATES,
    limit: int | None = LIMIT,
    seed: int = SEED,
    context_turns: int | None = TURNS,
    batch: int = BATCH,
    device: str = DEVICE,
    as_json: bool = JSON,
) -> None:
    """How much the respondent's persona helps: the same measures with more and more persona sentences.

    Example:

        allears evaluate persona runs/reddit-cobert --corpus pairs.jsonl --counts 0,1,2,5,10,20
    """
    numbers = _whole_numbers(counts)
    selector = load_selector(model, device, persona_sentences=max(numbers))
    examples = split_examples(corpus, split, root, context_turns)
    if not any(example.persona.sentences for example in examples):
        raise AllearsError(
            f"the {split} split of {corpus} carries no personas; every count would be the same"
        )
    reports = {
        number: evaluate_selection(
            selector,
            examples,
            candidates,
            seed,
            batch=batch,
            persona_sentences=number,
            limit=limit,
            watch=watched,
        )
        for number in numbers
    }
    if as_json:
        rows = [{"persona_sentences": number} | report.flat() for number, report in reports.items()]
        typer.echo(json.dumps({"model": model, "corpus": corpus, "split": split, "rows": rows}))
        return
    title = f"{short_name(model)} on {corpus} {split}, {candidates} candidates, seed {seed}"
    console.print(
        measures_table(title, "persona sentences", {str(n): report for n, report in reports.items()})
    )


def _whole_numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise AllearsError(
            f"--counts takes whole numbers with commas between them, such as 0,5,10; got {text!r}"
        )
    return list(dict.fromkeys(int(part) for part in parts))


def _pool_name(pool: str) -> str:
    """What tells a pool's numbers apart in JSON: a corpus by its name, a file by its stem."""
    return re.sub(r"\W+", "_", Path(pool).name.partition(".")[0].lower())


def _pools(names: list[str], root: Path | None) -> dict[str, list[str]]:
    pools: dict[str, list[str]] = {}
    for name in names:
        short = _pool_name(name)
        if short in pools:
            raise AllearsError(f"two pools are called {short!r}; rename one of the files")
        pools[short] = read_pool(name, root)
    return pools


def _by_short_name(reports: dict[str, SelectionReport]) -> dict[str, SelectionReport]:
    """Short names where they still tell the models apart."""
    short = {short_name(name): report for name, report in reports.items()}
    return short if len(short) == len(reports) else reports


def _flat_comparison(comparison: SelectionComparison, other: SelectionReport) -> dict[str, float]:
    """Differences in points, first minus second. `p_value` is McNemar's exact test on R@1."""
    return {
        "against_recall_at_1": other.recall_at_1,
        "against_mrr": other.mrr,
        "difference": comparison.recall_at_1.value,
        "difference_low": comparison.recall_at_1.low,
        "difference_high": comparison.recall_at_1.high,
        "p_value": comparison.recall_test.p_value,
        "p_value_bootstrap": comparison.recall_at_1.p_value,
        "difference_mrr": comparison.mrr.value,
        "difference_mrr_low": comparison.mrr.low,
        "difference_mrr_high": comparison.mrr.high,
        "p_value_mrr": comparison.rank_test.p_value,
        "p_value_mrr_bootstrap": comparison.mrr.p_value,
    }


def _flat_retrieval(retrieved: dict[str, RetrievalReport]) -> dict[str, float]:
    """`avg_bleu_ed`, ... for every pool; the first pool's also as plain `avg_bleu` and `bleu_4`."""
    flat: dict[str, float] = {}
    for name, report in retrieved.items():
        if not flat:
            flat |= {"avg_bleu": report.avg_bleu, "bleu_4": report.bleu_4}
        flat |= {f"avg_bleu_{name}": report.avg_bleu, f"bleu_4_{name}": report.bleu_4}
    return flat
