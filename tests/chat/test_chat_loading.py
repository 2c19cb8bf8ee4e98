"""Loading in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from allears.chat.loading import GETTING_READY, Loading, Watch
from allears.errors import AllearsError


def test_what_was_loaded_is_handed_over_when_it_is_ready():
    gate = threading.Event()

    def load(watch: Watch) -> str:
        gate.wait(10)
        return "listener"

    loading = Loading(load)
    assert not loading.wait(0.01)
    gate.set()
    assert loading.get() == "listener"
    assert loading.wait(0)


def test_progress_is_told_while_there_is_some():
    steps, reached = threading.Semaphore(0), threading.Semaphore(0)

    def load(watch: Watch) -> str:
        for _ in watch(["a", "b", "c", "d"], "encoding"):
            reached.release()
            steps.acquire(timeout=10)
        return "listener"

    loading = Loading(load)
    seen = []
    for _ in range(4):
        reached.acquire(timeout=10)
        seen.append(loading.progress)
        steps.release()
    assert seen == [f"{GETTING_READY} {share}%" for share in (0, 25, 50, 75)]
    loading.get()
    assert loading.progress == ""


def failing(watch: Watch) -> str:
    raise AllearsError("no such bundle")


def test_what_went_wrong_is_raised_for_whoever_waits():
    loading = Loading(failing)
    for _ in range(2):
        with pytest.raises(AllearsError, match="no such bundle"):
            loading.get()


@pytest.mark.parametrize("early", [True, False])
def test_whoever_wants_to_know_of_a_failure_is_called_once(early: bool):
    gate, told = threading.Event(), []

    def load(watch: Watch) -> str:
        gate.wait(10)
        return failing(watch)

    loading = Loading(load)
    call: Callable[[BaseException], None] = told.append
    if early:
        loading.when_it_fails(call)
    gate.set()
    loading.wait()
    loading.stop()
    if not early:
        loading.when_it_fails(call)
    assert [str(error) for error in told] == ["no such bundle"]


def test_leaving_stops_at_the_next_step():
    done = []

    def load(watch: Watch) -> str:
        for item in watch(range(1000), "encoding"):
            done.append(item)
            threading.Event().wait(0.02)
        return "listener"

    loading = Loading(load)
    while not loading.progress:
        pass
    assert loading.stop(10)
    assert loading.wait(0)
    assert len(done) < 1000


def test_what_does_not_stop_in_time_is_left_alone():
    gate = threading.Event()
    loading = Loading(lambda watch: gate.wait(10))
    assert not loading.stop(0.01)
    gate.set()
    assert loading.get()
