"""Nobody may ask without end."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allears.serve import limits
from allears.serve.limits import BodyTooLargeError, RateLimit, limited


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_answered_and_then_one_waits_for_the_next_place():
    clock = Clock()
    limit = RateLimit(rate=2, burst=3, clock=clock)
    assert [limit.wait("anna") for _ in range(4)] == [0, 0, 0, 0.5]
    clock.now += 0.5
    assert limit.wait("anna") == 0
    assert limit.wait("anna") == 0.5


def test_one_persons_haste_is_not_anothers():
    limit = RateLimit(rate=1, burst=1, clock=Clock())
    assert limit.wait("anna") == 0
    assert limit.wait("anna") > 0
    assert limit.wait("ben") == 0


@given(st.lists(st.floats(0, 5), max_size=60))
def test_in_the_long_run_no_more_than_the_rate_is_answered(pauses: list[float]):
    clock = Clock()
    limit = RateLimit(rate=2, burst=5, clock=clock)
    answered = 0
    for pause in pauses:
        clock.now += pause
        answered += limit.wait("anna") == 0
    assert answered <= 5 + 2 * sum(pauses) + 1e-6


def test_people_who_left_are_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "MOST_BUCKETS", 10)
    clock = Clock()
    limit = RateLimit(rate=1, burst=2, clock=clock)
    for number in range(10):
        limit.wait(f"person {number}")
    clock.now += 60
    limit.wait("one more")
    assert len(limit._buckets) == 1


def test_a_body_longer_than_promised_is_cut_off():
    parts = iter([b"x" * 40, b"x" * 40, b"x" * 40])

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": next(parts), "more_body": True}

    async def run() -> None:
        read = limited(receive, 100)
        await read()
        await read()
        with pytest.raises(BodyTooLargeError):
            await read()

    asyncio.run(run())
