"""Every experiment by its name, in the papers' order. One file each; a file is imported when it is asked for."""

from __future__ import annotations

import difflib
from importlib import import_module

from allears.errors import AllearsError
from allears.experiments.contract import Experiment

NAMES = (
    "pec-table-1", "pec-table-2", "pec-table-5", "pec-table-6", "pec-table-7", "pec-table-8", "pec-table-9",
    "pec-figure-1", "pec-figure-3",
    "ed-table-1", "ed-table-3", "ed-table-6", "ed-table-10", "ed-figure-3",
    "modmoel-results",
    "pal-table-3", "pal-figure-3", "pal-figure-4", "pal-figure-5", "pal-alpha",
    "mime-table-2", "mime-table-5", "mime-table-6", "mime-figure-3", "mime-emotions",
)  # fmt: skip
ALL = "all"


def experiment(name: str) -> Experiment:
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, 1)
        advice = f"did you mean {near[0]}?" if near else "`allears experiment list` shows all"
        raise AllearsError(f"unknown experiment {name!r}; {advice}")
    found: Experiment = import_module(f"allears.experiments.{name.replace('-', '_')}").EXPERIMENT
    return found


def experiments(name: str = ALL) -> tuple[Experiment, ...]:
    """One, those of a paper ("pec"), or all."""
    if name == ALL:
        return tuple(experiment(each) for each in NAMES)
    of_paper = [each for each in NAMES if each.startswith(f"{name}-")]
    return tuple(experiment(each) for each in of_paper or [name])
