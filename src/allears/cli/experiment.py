"""`allears experiment`: the papers' tables and figures, one command each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from allears.cli.options import CorporaRoot, flag, optional, shared, unset, value
from allears.cli.output import console, errors, say
from allears.errors import AllearsError

app = typer.Typer(
    help="The papers' tables and figures, re-run on the data at hand, beside the published numbers.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

DOCS_RESULTS = Path("docs/results")
SHOWN_REASONS = 3
Results = Annotated[
    Path | None,
    unset("The results.json. Default: docs/results/results.json; with --small one beside the small runs."),
]
Small = Annotated[
    bool,
    shared("Tiny models and few sentences: tries everything out on a CPU, and says nothing.", "--small"),
]


@app.command("list")
def list_experiments(results: Results = None, small: Small = False) -> None:
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
    name: str = typer.Argument(
        help="An experiment (see `list`), a paper (pec, ed, modmoel, pal, mime), or all."
    ),
    *,
    small: Small = False,
    home: Path | None = optional(
        "Where runs and measurements are kept. Default: runs/experiments, or runs/experiments-small."
    ),
    root: CorporaRoot = None,
    results: Results = None,
    seeds: int = value(1, "Train and measure with so many seeds.", min=1),
    device: str = value("", "cpu or cuda. Default: cuda where there is one."),
    encoder: str = value("", "In place of the recipes' pretrained encoder: a hub name or a folder."),
    vectors: str = value("", "In place of the recipes' file of word vectors."),
    ready: bool = flag(
        "--ready", "Train, measure and make nothing: a cell that was not measured before says so."
    ),
    keep: bool = flag(
        "--keep",
        "A cell that cannot be filled here keeps its value from results.json, and the page says so.",
    ),
    workers: int = value(1, "Train and measure so many at once, if memory allows.", min=1),
    study: Path | None = optional("What `allears study export` wrote, for PEC's Table 2."),
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
    say(f"kept in {target}")


@app.command()
def report(
    results: Results = None,
    small: Small = False,
    out: Path | None = optional("The folder to write. Default: where results.json is."),
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
    say(f"wrote {len(files)} files to {folder}")


@app.command()
def verify(
    results: Results = None,
    small: Small = False,
    folder: Path | None = optional("The report's folder. Default: where results.json is."),
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
        say(problem, "red")
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
