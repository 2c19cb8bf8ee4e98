"""How much one person may ask, and how large a request may be."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

MOST_BUCKETS = 10_000  # from then on, those that are full again are forgotten


@dataclass(slots=True)
class _Bucket:
    left: float
    seen: float


class RateLimit:
    """A bucket of requests per person: `burst` at once, refilled with `rate` a second."""

    def __init__(self, rate: float, burst: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.burst = burst
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    def wait(self, who: str) -> float:
        """Count a request. Zero, or the seconds after which the next one will be answered."""
        now = self._clock()
        bucket = self._buckets.get(who)
        if bucket is None:
            self._make_room(now)
            bucket = self._buckets[who] = _Bucket(self.burst, now)
        bucket.left = min(self.burst, bucket.left + (now - bucket.seen) * self.rate)
        bucket.seen = now
        if bucket.left < 1:
            return (1 - bucket.left) / self.rate
        bucket.left -= 1
        return 0.0

    def _make_room(self, now: float) -> None:
        if len(self._buckets) >= MOST_BUCKETS:
            self._buckets = {
                who: bucket
                for who, bucket in self._buckets.items()
                if bucket.left + (now - bucket.seen) * self.rate < self.burst
            }


class BodyTooLargeError(HTTPException):
    """A request went on beyond the limit. An `HTTPException`, which FastAPI passes on while it reads a body."""

    def __init__(self, most: int) -> None:
        super().__init__(
            413, f"That is too much at once: at most {most:,} bytes are taken. Please send less."
        )


def limited(receive: Receive, most: int) -> Receive:
    """`receive`, until more than `most` bytes of a body have come, whatever its headers promised."""
    taken = 0

    async def receive_some() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise BodyTooLargeError(most)
        return message

    return receive_some
