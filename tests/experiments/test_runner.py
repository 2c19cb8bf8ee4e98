"""Every cell has a value, or a sentence why it has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_experiment import MADE_UP

from allears.experiments.contract import Cell, Done, Plan, Result, take
from allears.experiments.contract import measure as ask
from allears.experiments.fingerprints import code_of
from allears.experiments.lab import Lab
from allears.experiments.made_corpora import LABELS_VALID
from allears.experiments.runner import run_experiment

DONE = Done("made up", "none", 0.0, "none", "")
EARLIER = Result(
    "made-up",
    False,
    "allears experiment run made-up",
    {
        ("first", "R@1"): Cell(90.0, 80.0, 99.0, (85.0, 95.0)),
        ("broken", "R@1"): Cell(91.0, code="older"),
        ("both", "R@1"): Cell(why="it failed then too"),
        ("first", "MRR"): Cell(92.0),
        ("nowhere", "R@1"): Cell(93.0),
    },
    (DONE, replace(DONE, what="first", command="earlier")),
    "old",
)


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


@pytest.mark.parametrize(
    ("corpus", "small", "file"),
    [(LABELS_VALID, False, LABELS_VALID), (LABELS_VALID, True, LABELS_VALID), ("ed", True, "ed.jsonl")],
)
def test_where_nothing_is_to_be_made_a_missing_corpus_is_not_made_and_its_cell_says_so(
    lab: Callable[..., Lab], said: list[str], tmp_path: Path, corpus: str, small: bool, file: str
) -> None:
    asked = ask("statistics", corpus=corpus, split="valid")
    plan = Plan(("row",), ("x",), {("row", "x"): take("x", asked)})
    before = sorted(tmp_path.rglob("*"))
    found = run_experiment(replace(MADE_UP, plan=lambda _: plan), lab(ready=True, small=small))
    assert found.cells["row", "x"] == Cell(why=f"{file} was not made yet")
    assert sorted(tmp_path.rglob("*")) == before
    assert not said


def test_a_cell_that_cannot_be_filled_keeps_its_earlier_value_with_its_code(lab: Callable[..., Lab]) -> None:
    kept = run_experiment(MADE_UP, lab(ready=True), EARLIER)
    assert kept.code == code_of("experiments")
    assert kept.cells["first", "R@1"] == Cell(90.0, 80.0, 99.0, (85.0, 95.0), code="old")
    assert kept.cells["broken", "R@1"] == Cell(91.0, code="older")
    assert kept.cells["both", "R@1"] == kept.cells["second", "R@1"] == Cell(why="not measured yet")
    assert kept.cells["first", "MRR"] == Cell(why="people would have to say this")
    assert ("nowhere", "R@1") not in kept.cells
    assert kept.steps == EARLIER.steps
    again = run_experiment(MADE_UP, lab(ready=True), kept)
    assert again == kept


def test_what_is_measured_now_counts_more_than_what_was_measured_earlier(lab: Callable[..., Lab]) -> None:
    plain = run_experiment(MADE_UP, lab())
    again = replace(plain.steps[0], seconds=99.0)
    found = run_experiment(MADE_UP, lab(), replace(EARLIER, steps=(DONE, again)))
    assert found.cells["first", "R@1"] == plain.cells["first", "R@1"]
    assert found.cells["broken", "R@1"] == Cell(91.0, code="older")
    assert found.steps == (*plain.steps, DONE)  # what was done again stands there once
    assert "nobody" in plain.cells["broken", "R@1"].why


def test_where_nothing_is_kept_the_earlier_steps_go(lab: Callable[..., Lab]) -> None:
    here = lab(ready=True)
    nothing = run_experiment(MADE_UP, here)
    assert run_experiment(MADE_UP, here, replace(EARLIER, small=True)) == nothing
    assert run_experiment(MADE_UP, here, replace(EARLIER, cells={})) == nothing
    assert not nothing.steps
