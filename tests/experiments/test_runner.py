"""Every cell has a value, or a sentence why it has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from made_up_experiment import MADE_UP

from allears.experiments.contract import Cell, Done, Plan, Result, take
from allears.experiments.contract import measure as ask
from allears.experiments.lab import Lab
from allears.experiments.runner import run_experiment

DONE = Done("made up", "none", 0.0, "none", "")


@pytest.fixture
def result(lab: Callable[..., Lab]) -> Result:
    return run_experiment(MADE_UP, lab())


def test_cells_are_filled_and_empty_ones_say_why(result: Result) -> None:
    cells = result.cells
    first, second = cells["first", "R@1"], cells["second", "R@1"]
    assert isinstance(first.value, float)
    assert isinstance(second.value, float)
    assert first.low is not None
    assert first.low <= first.value <= (first.high or 0)
    assert cells["both", "R@1"].value == pytest.approx(second.value - first.value)
    assert cells["first", "MRR"] == Cell(why="people would have to say this")
    assert "nobody" in cells["broken", "R@1"].why
    assert "nobody" in cells["both", "MRR"].why
    assert "no such measure" in cells["second", "MRR"].why
    assert all(cell.value is not None or cell.why for cell in cells.values())


def test_a_result_says_what_it_rests_on(result: Result) -> None:
    assert {"first", "second", "selection first", "selection second"} == {step.what for step in result.steps}
    assert all(
        step.seconds > 0 and step.hardware and step.command and step.fingerprint for step in result.steps
    )
    assert result.command == "allears experiment run made-up"
    assert result.seconds == pytest.approx(sum(step.seconds for step in result.steps))


def test_what_is_ready_is_taken_and_nothing_new_is_made(lab: Callable[..., Lab], said: list[str]) -> None:
    nothing = run_experiment(MADE_UP, lab(ready=True))
    assert nothing.cells["first", "R@1"] == Cell(why="not measured yet")
    assert not nothing.steps
    assert not said
    whole = run_experiment(MADE_UP, lab())
    assert run_experiment(MADE_UP, lab(ready=True)).cells["first", "R@1"] == whole.cells["first", "R@1"]


def test_several_seeds_give_their_mean_and_an_interval(lab: Callable[..., Lab]) -> None:
    values = {1: 10.0, 2: 14.0, 3: 12.0}
    here = lab()
    here.measured = lambda asked: {"x": values[asked.option("seed")]}  # type: ignore[method-assign]
    here.measurement_done = lambda asked: replace(  # type: ignore[method-assign]
        DONE, fingerprint=str(asked.option("seed"))
    )
    asked = [ask("statistics", corpus="ed", seed=seed) for seed in values]
    plan = Plan(("row",), ("x",), {("row", "x"): take("x", *asked, times=2.0)})
    cell = run_experiment(replace(MADE_UP, plan=lambda _: plan), here).cells["row", "x"]
    assert cell.value == pytest.approx(24.0)
    assert cell.seeds == (20.0, 28.0, 24.0)
    # Student's t with two degrees of freedom: 4.303 standard errors of 4 / sqrt(3)
    assert cell.high == pytest.approx(24.0 + 4.3027 * 4 / 3**0.5, abs=1e-3)
