"""`allears train`: recipes in, run folders out, and a table of what came of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from allears.cli.options import flag, optional, value
from allears.cli.output import console, errors
from allears.errors import AllearsError

WIDEST = 7  # measures that stand side by side in 80 columns


def train(
    recipes: list[Path] = typer.Argument(help="One recipe or several, trained in this order."),
    change: list[str] = value(
        [], "Change a key of every recipe: --set training.batch=32", "--set", metavar="KEY=VALUE"
    ),
    out: Path = optional("The run folder, for a single recipe.  [default: runs/NAME OF THE RECIPE]"),
    resume: bool = flag(
        "--resume", "Go on after a kill, to the same result; finished runs are left as they are."
    ),
) -> None:
    """Train models from recipes.

    Several recipes are trained one after another, so that one can start from what another learned, and a table
    closes the series.

    \b
    allears train recipes/ed-bi-encoder-plain.toml
    allears train recipes/ed-cobert.toml --set training.epochs=1
    allears train recipes/dialogue-pretrain.toml recipes/ed-bi-encoder.toml recipes/ed-cross-encoder.toml
    allears train recipes/ed-cobert.toml --resume
    accelerate launch -m allears train recipes/ed-cobert.toml
    """
    if out is not None and len(recipes) > 1:
        raise AllearsError("--out names one run folder; leave it out to train several recipes")
    done = {
        recipe.stem: _run(recipe, change, out or Path("runs") / recipe.stem, resume) for recipe in recipes
    }
    console.print(_table(done))


def _run(recipe: Path, change: list[str], folder: Path, resume: bool) -> dict[str, Any]:
    from allears.training.run import run_recipe

    errors.print(f"[bold]{recipe.stem}[/] → {folder}", highlight=False)
    return {**run_recipe(recipe, change, folder, resume=resume), "folder": str(folder / "best")}


def _table(done: dict[str, dict[str, Any]]) -> Table:
    """A row per run; where there is more to say than fits a row, a column per run."""
    names = list(dict.fromkeys(name for metrics in done.values() for name in metrics if name != "folder"))
    rows = [["run", *names, "saved in"]]
    for run, metrics in done.items():
        values = [metrics.get(name, "") for name in names]
        shown = [f"{number:.2f}" if isinstance(number, float) else str(number) for number in values]
        rows.append([run, *shown, metrics["folder"]])
    if len(names) > WIDEST:
        rows = [list(column) for column in zip(*rows, strict=True)]
    table = Table(*rows[0])
    for row in rows[1:]:
        table.add_row(*row)
    return table
