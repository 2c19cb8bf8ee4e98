"""From a plan to a result: every cell filled, or with the sentence why it is not."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from statistics import fmean

from allears.errors import AllearsError
from allears.experiments.contract import (
    Ask,
    Cell,
    Done,
    Empty,
    Experiment,
    Key,
    Measurement,
    Minus,
    Plan,
    Result,
    Take,
)
from allears.experiments.fingerprints import code_of
from allears.experiments.lab import Lab

PACKAGES = ("allears", "torch", "transformers", "numpy", "sacrebleu")


def run_experiment(experiment: Experiment, lab: Lab, earlier: Result | None = None) -> Result:
    """Train and measure whatever is not there yet. What cannot be had leaves its own cells empty, and no others; or as
    they were in an `earlier` result, if one is given."""
    plan = experiment.plan(lab.setting)
    cells = {place: _cell(ask, lab) for place, ask in plan.asks.items()}
    result = Result(
        experiment.name, lab.setting.small, command_of(experiment.name, small=lab.setting.small), cells,
        _steps(plan, lab), code_of("experiments"), {name: _version(name) for name in PACKAGES},
    )  # fmt: skip
    return result if earlier is None else _with_kept(result, plan, earlier)


def command_of(name: str, *, small: bool) -> str:
    return shlex.join(["allears", "experiment", "run", name, *(["--small"] if small else [])])


def _with_kept(result: Result, plan: Plan, earlier: Result) -> Result:
    """With the earlier values of the cells that could not be filled now, and the steps that stand behind them."""
    kept = _kept(result.cells, plan, earlier) if earlier.small == result.small else {}
    if not kept:
        return result
    again = {(step.what, step.command) for step in result.steps}
    steps = (*result.steps, *(step for step in earlier.steps if (step.what, step.command) not in again))
    return replace(result, cells={**result.cells, **kept}, steps=steps)


def _kept(cells: Mapping[Key, Cell], plan: Plan, earlier: Result) -> dict[Key, Cell]:
    found = {}
    for place, ask in plan.asks.items():
        before = earlier.cells.get(place, Cell())
        if cells[place].value is None and before.value is not None and not isinstance(ask, Empty):
            found[place] = replace(before, code=before.code or earlier.code)
    return found


def _cell(ask: Ask, lab: Lab) -> Cell:
    if isinstance(ask, Empty):
        return Cell(why=ask.why)
    try:
        if isinstance(ask, Take):
            return _taken(ask, lab)
        first, second = _taken(ask.first, lab), _taken(ask.second, lab)
    except AllearsError as error:
        return Cell(why=lab.without_places(str(error)))
    for each in (first, second):
        if not isinstance(each.value, float | int):
            return Cell(why=each.why or "it is worked out from a cell that is empty")
    one, other = float(first.value or 0), float(second.value or 0)
    if isinstance(ask, Minus):
        return Cell(one - other)
    return Cell(one / other) if other else Cell(why="the other side of the ratio is 0")


def _taken(ask: Take, lab: Lab) -> Cell:
    records = [lab.measured(each) for each in ask.of]
    missing = [record for record in records if ask.measure not in record]
    if missing:
        return Cell(why=_not_measured(ask.measure, ask.of[0]))
    values = [record[ask.measure] for record in records]
    if isinstance(values[0], str):
        return Cell(values[0])
    numbers = [float(value) * ask.times for value in values]
    low, high = records[0].get(f"{ask.measure}_low"), records[0].get(f"{ask.measure}_high")
    if len(numbers) > 1:
        spread = _spread(numbers)
        return Cell(fmean(numbers), fmean(numbers) - spread, fmean(numbers) + spread, tuple(numbers))
    if low is None or high is None:
        return Cell(numbers[0], seeds=tuple(numbers))
    return Cell(numbers[0], low * ask.times, high * ask.times, tuple(numbers))


def _spread(numbers: Sequence[float]) -> float:
    """Half of a 95% interval of the mean over seeds, by Student's t."""
    from scipy.stats import sem, t

    return float(sem(numbers) * t.ppf(0.975, len(numbers) - 1))


def _not_measured(measure: str, asked: Measurement) -> str:
    if measure.startswith("memory"):
        return "memory is measured where torch counts it: on a GPU (--device cuda)"
    where = asked.option("corpus") or "what is at hand"
    return f"{asked.kind} gives no {measure.replace('_', ' ')} here: {where} lacks what it needs"


def _steps(plan: Plan, lab: Lab) -> tuple[Done, ...]:
    """What was really done; what failed says so in its cells."""
    found: dict[str, Done] = {}
    for measurement in plan.measurements:
        try:
            lab.measured(measurement)
        except AllearsError:
            continue  # its cells carry the sentence
        done = lab.measurement_done(measurement)
        found[done.fingerprint] = done
    for run in plan.runs:
        try:
            lab.trained(run)
        except AllearsError:
            continue
        done = lab.run_done(run)
        found[done.fingerprint] = done
    return tuple(found.values())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
