"""`allears average`: several runs of one model as one."""

from __future__ import annotations

from pathlib import Path

import typer

from allears.cli.options import optional, value
from allears.cli.output import console
from allears.errors import AllearsError, needs


def average(
    runs: list[str] = typer.Argument(
        metavar="RUN[=WEIGHT]...",
        help="Run folders of the same model, each with its weight; 1 where none is given.",
    ),
    out: Path = value(..., "The run folder to write."),
    encoder_of: Path | None = optional("Take this run's encoder in the place of the mean's.", metavar="RUN"),
) -> None:
    """The weighted mean of some runs' weights, as a run that can be evaluated, trained further and exported.

    The runs must be of the same model and should have started from the same weights: other runs have no useful mean.

    \b
    allears average runs/ed-cobert runs/ed-cobert-2 --out runs/ed-cobert-mean
    allears average runs/default/best/ranker=0.1 runs/ed-cobert=0.9 --out runs/ranker
    allears average runs/esconv-pal --encoder-of runs/ranker --out runs/voice
    """
    with needs("averaging"):
        from allears.training.averaging import average_runs
    average_runs(_weighted(runs), out, encoder_of=encoder_of)
    console.print(f"{out}: the mean of {len(runs)} runs", highlight=False, soft_wrap=True)


def _weighted(words: list[str]) -> dict[Path, float]:
    found: dict[Path, float] = {}
    for word in words:
        name, _, weight = word.rpartition("=") if "=" in word else (word, "", "1")
        try:
            found[Path(name)] = float(weight)
        except ValueError:
            raise AllearsError(
                f"{word}: {weight!r} is no weight; write RUN=WEIGHT, such as runs/a=0.5"
            ) from None
    if len(found) < len(words):
        raise AllearsError("the same run is named twice; give it one weight")
    return found
