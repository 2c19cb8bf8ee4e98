"""From a recipe to a run folder: what `allears train` and `allears.train` do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from allears.errors import AllearsError
from allears.training.recipe import read_recipe

RUNS = Path("runs")


def run_recipe(
    recipe: Path, changes: Sequence[str] = (), folder: Path | None = None, *, resume: bool = False
) -> dict[str, float]:
    """Train what a recipe asks for, and give its measures.

    Args:
        recipe: A TOML file; see `recipes/`.
        changes: Keys to set differently, as in "training.epochs=1".
        folder: The run folder; by default `runs/` and the recipe's name.
        resume: Go on with a run that was killed, or leave a finished one as it is.
    """
    try:
        from allears.training.loop import train
        from allears.training.tasks import make_task
    except ImportError as error:
        raise AllearsError(
            f'training needs more than the light install: pip install "allears[train]" ({error})'
        ) from error
    folder = folder or RUNS / recipe.stem
    wanted = read_recipe(recipe, list(changes))
    started = (folder / "checkpoint").exists() or (folder / "checkpoint.old").exists()
    if (folder / "run.json").exists() and not resume:
        raise AllearsError(
            f"{folder}: a run is there already; use --resume to go on with it, or another --out"
        )
    return train(make_task(wanted, folder), wanted, folder, resume=started)
