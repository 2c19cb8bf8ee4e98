"""`allears train`: one recipe, one run folder."""

from __future__ import annotations

from pathlib import Path

import typer

from allears.cli.output import console
from allears.errors import AllearsError


def train(
    recipe: Path = typer.Argument(help="A recipe, such as recipes/ed-cobert.toml."),
    change: list[str] = typer.Option(
        [], "--set", help="Change a key: --set training.batch=32", metavar="KEY=VALUE"
    ),
    out: Path = typer.Option(None, help="The run folder.  [default: runs/RECIPE'S NAME]", show_default=False),
    resume: bool = typer.Option(False, "--resume", help="Go on after a kill, to the same result."),
) -> None:
    """Train a model from a recipe.

    \b
    allears train recipes/ed-bi-encoder.toml
    allears train recipes/ed-cobert.toml --set training.epochs=1 --set model.encoder=thenlper/gte-small
    allears train recipes/ed-cobert.toml --resume
    accelerate launch -m allears train recipes/ed-cobert.toml
    """
    try:
        from allears.training.loop import train as run
        from allears.training.recipe import read_recipe
        from allears.training.tasks import make_task
    except ImportError as error:
        raise AllearsError(
            f'training needs more than the light install: pip install "allears[train]" ({error})'
        ) from error

    wanted = read_recipe(recipe, change)
    folder = out or Path("runs") / recipe.stem
    if folder.exists() and not resume and (folder / "run.json").exists():
        raise AllearsError(
            f"{folder}: a run is there already; use --resume to go on with it, or another --out"
        )
    metrics = run(make_task(wanted, folder), wanted, folder, resume=resume)
    shown = "  ".join(f"{name} {value:.2f}" for name, value in metrics.items() if name != "step")
    console.print(f"best: {shown}\nsaved in {folder / 'best'}", highlight=False)
