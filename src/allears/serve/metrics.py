"""What the server counts, in Prometheus' words. Numbers and names of steps only: never a text, never a person."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """One server's counts, in a registry of its own so that two servers in a process do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "allears_requests",
            "Requests by route and status.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.replies = Counter("allears_replies", "Replies given.", registry=self.registry)
        self.seconds = Histogram(
            "allears_request_seconds",
            "Time to answer a request.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.steps = Histogram(
            "allears_step_seconds",
            "Time in each step of a turn: the server's (load, listen, store) and the listener's own.",
            ("step",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.batches = Histogram(
            "allears_batch_size", "Messages answered together.", buckets=_SIZES, registry=self.registry
        )
        self.failures = Counter(
            "allears_batch_failures",
            "Batches that failed and were answered one by one.",
            registry=self.registry,
        )
        self.waiting = Gauge("allears_waiting_messages", "Messages in the queue.", registry=self.registry)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    def step(self, name: str, seconds: float) -> None:
        self.steps.labels(name).observe(seconds)

    def reply(self, milliseconds: Mapping[str, float]) -> None:
        """A reply was given; `milliseconds` are the listener's own steps."""
        self.replies.inc()
        for name, value in milliseconds.items():
            self.step(f"listener/{name}", value / 1000)

    def text(self) -> bytes:
        return generate_latest(self.registry)
