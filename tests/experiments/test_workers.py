"""Several processes in one lab do the same as one, each thing once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_up_experiment import BROKEN, FIRST, MADE_UP, SECOND

from allears.experiments.contract import Measurement
from allears.experiments.lab import Lab
from allears.experiments.runner import run_experiment
from allears.experiments.workers import _taken, work_together


def test_two_workers_do_everything_once(
    lab: Callable[..., Lab], said: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    here = lab()
    here.remember_failures(work_together([MADE_UP], here, 2))
    told = capfd.readouterr().out
    for run in (FIRST, SECOND):
        assert told.count(f"training {run.name}\n") == 1
        assert told.count(f"measuring {run.name}: selection\n") == 1
    together = run_experiment(MADE_UP, here)
    assert said == ["2 workers"]  # nothing was left to do
    assert isinstance(together.cells["first", "R@1"].value, float)
    assert "nobody" in together.cells["broken", "R@1"].why


def test_what_failed_comes_back_with_its_reason(lab: Callable[..., Lab]) -> None:
    failed = work_together([MADE_UP], lab(), 1)
    assert "nobody" in failed[BROKEN]
    assert {job.of for job in failed if isinstance(job, Measurement)} == {
        BROKEN
    }  # what was to be measured of it


def test_what_somebody_has_is_not_taken(tmp_path: Path) -> None:
    lock = tmp_path / "locks" / "run.lock"
    with _taken(lock) as mine, _taken(lock) as another:
        assert (mine, another) == (True, False)
    with _taken(lock) as again:
        assert again
