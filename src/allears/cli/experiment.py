"""`allears experiment`: the papers' tables and figures, one command each."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.table import Table

from allears.cli.output import console, errors
from allears.errors import AllearsError

app = typer.Typer(
    help="The papers' tables and figures, re-run on the data at hand, beside the published numbers.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

DOCS_RESULTS = Path("docs/results")
SHOWN_REASONS = 3
NAME = typer.Argument(help="An experiment (see `list`), a paper (pec, ed, modmoel, pal, mime), or all.")
RESULTS = typer.Option(
    None,
    "--results",
    help="The results.json. Default: docs/results/results.json; with --small one beside the small runs.",
    show_default=False,
)
SMALL = typer.Option(
    False, "--small", help="Tiny models and few sentences: tries everything out on a CPU, and says nothing."
)


@app.command("list")
def list_experiments(results: Path | None = RESULTS, small: bool = SMALL) -> None:
    """Every table and figure, what it asks, and whether it was run.

    \b
    allears experiment list
    """
    from allears.experiments.registry import experiments
    from allears.experiments.setting import Setting
    from allears.experiments.store import read_results

    found = read_results(_results(results, small))
    table = Table("experiment", "where", "what it asks", "runs", "cells")
    for each in experiments():
        plan = each.plan(Setting(small=small))
        result = found.get(each.name)
        filled = sum(cell.value is not None for cell in result.cells.values()) if result else 0
        cells = f"{filled} of {len(plan.asks)}" if result else "not run yet"
        table.add_row(each.name, each.title, each.question, str(len(plan.runs)), cells)
    console.print(table)


@app.command()
def run(
    name: str = NAME,
    *,
    small: bool = SMALL,
    home: Path | None = typer.Option(
        None,
        "--home",
        help="Where runs and measurements are kept. Default: runs/experiments, or runs/experiments-small.",
        show_default=False,
    ),
    root: Path | None = typer.Option(
        None, "--root", help="The folder of the corpora. Default: $ALLEARS_DATA.", show_default=False
    ),
    results: Path | None = RESULTS,
    seeds: int = typer.Option(1, "--seeds", min=1, help="Train and measure with so many seeds."),
    device: str = typer.Option("", "--device", help="cpu or cuda. Default: cuda where there is one."),
    encoder: str = typer.Option(
        "", "--encoder", help="In place of the recipes' pretrained encoder: a hub name or a folder."
    ),
    vectors: str = typer.Option("", "--vectors", help="In place of the recipes' file of word vectors."),
    ready: bool = typer.Option(
        False, "--ready", help="Train, measure and make nothing: a cell that was not measured before says so."
    ),
    keep: bool = typer.Option(
        False,
        "--keep",
        help="A cell that cannot be filled here keeps its value from results.json, and the page says so.",
    ),
    workers: int = typer.Option(
        1, "--workers", min=1, help="Train and measure so many at once, if memory allows."
    ),
    study: Path | None = typer.Option(
        None, "--study", help="What `allears study export` wrote, for PEC's Table 2.", show_default=False
    ),
) -> None:
    """Train and measure what a table needs, and keep its cells in results.json.

    Nothing is trained or measured twice; killed, the same command goes on where it stopped.

    \b
    allears experiment run pec-table-9
    allears experiment run all --small
    allears experiment run mime --device cuda --seeds 3 --workers 4
    allears experiment run pec-table-7 --ready
    allears experiment run modmoel-results --device cuda --keep
    """
    from allears.experiments.lab import Lab
    from allears.experiments.registry import experiments
    from allears.experiments.runner import run_experiment
    from allears.experiments.setting import FULL_HOME, SMALL_HOME, Setting, default_encoder, find_repository
    from allears.experiments.store import keep_result, read_results

    chosen = experiments(name)
    setting = Setting(
        small=small, home=home or (SMALL_HOME if small else FULL_HOME), root=root,
        device=device or _device(small), seeds=seeds, encoder=encoder or default_encoder(), vectors=vectors,
        study=study, ready=ready, repository=find_repository(),
    )  # fmt: skip
    lab = Lab(setting, lambda what: errors.print(what, highlight=False, markup=False))
    target = results or _results(None, small, setting.home)
    earlier = read_results(target) if keep else {}
    if workers > 1 and not ready:
        from allears.experiments.workers import work_together

        lab.remember_failures(work_together(chosen, lab, workers))
    table = Table("experiment", "cells with a value", "why the others have none", "seconds")
    for each in chosen:
        errors.print(f"[bold]{each.name}[/]: {each.title}", highlight=False)
        result = run_experiment(each, lab, earlier.get(each.name))
        keep_result(target, result)
        empty = {cell.why for cell in result.cells.values() if cell.value is None}
        filled = sum(cell.value is not None for cell in result.cells.values())
        reasons = "; ".join(sorted(empty)[:SHOWN_REASONS])
        if len(empty) > SHOWN_REASONS:
            reasons += f"; and {len(empty) - SHOWN_REASONS} more"
        table.add_row(each.name, f"{filled} of {len(result.cells)}", reasons, f"{result.seconds:.0f}")
    console.print(table)
    errors.print(f"kept in {target}", highlight=False, soft_wrap=True)


@app.command()
def report(
    results: Path | None = RESULTS,
    small: bool = SMALL,
    out: Path | None = typer.Option(
        None, "--out", help="The folder to write. Default: where results.json is.", show_default=False
    ),
) -> None:
    """Write the pages: Markdown and a static site, with what was run and what was not.

    \b
    allears experiment report
    allears experiment report --small --out /tmp/report
    """
    from allears.experiments.registry import experiments
    from allears.experiments.report.writing import write_report
    from allears.experiments.store import read_results

    source = _results(results, small)
    folder = out or source.parent
    files = write_report(experiments(), read_results(source), folder)
    errors.print(f"wrote {len(files)} files to {folder}", highlight=False, soft_wrap=True)


@app.command()
def verify(
    results: Path | None = RESULTS,
    small: bool = SMALL,
    folder: Path | None = typer.Option(
        None, "--folder", help="The report's folder. Default: where results.json is.", show_default=False
    ),
) -> None:
    """Check that the numbers in the documentation come from results.json. The exit code is 1 if one does not.

    \b
    allears experiment verify
    """
    from allears.experiments.registry import experiments
    from allears.experiments.verify import documentation_pages
    from allears.experiments.verify import verify as check

    source = _results(results, small)
    pages = [] if small else documentation_pages(Path())
    problems = check(experiments(), source, folder or source.parent, pages)
    for problem in problems:
        errors.print(problem, style="red", highlight=False, markup=False, soft_wrap=True)
    if problems:
        raise typer.Exit(1)
    console.print("every number comes from results.json", highlight=False)


def _results(given: Path | None, small: bool, home: Path | None = None) -> Path:
    from allears.experiments.setting import SMALL_HOME
    from allears.experiments.store import RESULTS

    if given is not None:
        return given
    return (home or SMALL_HOME) / RESULTS if small else DOCS_RESULTS / RESULTS


def _device(small: bool) -> str:
    if small:
        return "cpu"
    try:
        import torch
    except ImportError as error:
        raise AllearsError(f'experiments need more: pip install "allears[train,study]" ({error})') from error
    return "cuda" if torch.cuda.is_available() else "cpu"
