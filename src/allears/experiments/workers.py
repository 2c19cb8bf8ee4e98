"""Several processes in one lab: each takes the next run or measurement that is ready and that nobody else has.

A lock that the system gives back when its process ends stands for "somebody has it"; so a killed worker loses only what
it was at, and the next one goes on there. Everything else is in the lab's folder, as with a single process.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from allears.errors import AllearsError
from allears.experiments.contract import Experiment, Measurement, Run
from allears.experiments.lab import Lab
from allears.experiments.setting import Setting

Job = Run | Measurement
PAUSE = 0.5  # seconds until a worker that found nothing to do looks again


def work_together(experiments: Sequence[Experiment], lab: Lab, count: int) -> dict[Job, str]:
    """Train and measure all that these tables need, `count` at once. Returns what failed, with the reasons."""
    setting, failed = lab.setting, dict[Job, str]()
    lab.prepare(_jobs(experiments, setting))
    lab.note(f"{count} workers")
    spawned = multiprocessing.get_context("spawn")  # a forked process cannot use a GPU
    with ProcessPoolExecutor(count, mp_context=spawned) as pool:
        for found in pool.map(_work, [tuple(experiments)] * count, [setting] * count, range(1, count + 1)):
            failed |= found
    return failed


def _work(experiments: Sequence[Experiment], setting: Setting, number: int) -> dict[Job, str]:
    lab = Lab(setting, lambda what: print(f"worker {number}: {what}", flush=True))
    waiting = list(_jobs(experiments, setting))
    failed: dict[Job, str] = {}
    while waiting:
        left = [job for job in waiting if not _settled(job, lab, failed)]
        if len(left) == len(waiting):
            time.sleep(PAUSE)
        waiting = left
    return failed


def _jobs(experiments: Sequence[Experiment], setting: Setting) -> Iterator[Job]:
    """Each once; runs before what is measured of them, and those that others start from first."""
    plans = [experiment.plan(setting) for experiment in experiments]
    yield from dict.fromkeys(run for plan in plans for run in plan.runs)
    yield from dict.fromkeys(measurement for plan in plans for measurement in plan.measurements)


def _settled(job: Job, lab: Lab, failed: dict[Job, str]) -> bool:
    """Whether nothing is left to do for a job here: done, by whomever, or failed."""
    needed = job.needs if isinstance(job, Run) else job.runs
    lost = next((each for each in needed if each in failed), None)
    if lost is not None:
        failed[job] = failed[lost]
        return True
    try:
        if lab.is_done(job):
            return True
        if not all(map(lab.is_done, needed)):
            return False
        with _taken(lab.lock_of(job)) as mine:
            if not mine:
                return False
            _do(job, lab)
    except AllearsError as error:
        failed[job] = str(error)
    return True


def _do(job: Job, lab: Lab) -> None:
    if isinstance(job, Run):
        lab.trained(job)
    else:
        lab.measured(job)


@contextmanager
def _taken(path: Path) -> Iterator[bool]:
    """Whether the lock could be had; it is given back at the end, or when this process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
