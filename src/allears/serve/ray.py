"""Many replicas of the same application behind Ray Serve, their state in one PostgreSQL."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fastapi import FastAPI

from allears.errors import AllearsError
from allears.listener.contract import Responder
from allears.memory import Memory
from allears.serve.app import create_app
from allears.serve.run import log_to_standard_error
from allears.serve.settings import ServerSettings
from allears.serve.voices import ServedVoice

Load = Callable[[], Responder | Sequence[ServedVoice]]

NAME = "allears"
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing leaves the machine
    "RAY_AUTH_MODE": "token",  # Ray's own ports are for this user only
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "60",  # a busy machine takes longer than Ray's 5 s to start a process
}


def serve_with_ray(
    load: Load,
    settings: ServerSettings,
    database: str | None,
    replicas: int,
    *,
    say: Callable[[str], None] = print,
) -> None:
    """Serve with `replicas` until the process is asked to stop. `load` is called in each of them.

    With `$RAY_ADDRESS` they join that cluster; otherwise Ray is started on this machine.
    """
    url = _shared(database or os.environ.get("ALLEARS_DATABASE"))
    ray = _connected()
    asked = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # after Ray has set its own, which die with a stack trace
        signal.signal(number, lambda *_: asked.set())
    try:
        _deploy(load, settings, url, replicas)
        say(f"listening on http://{settings.host}:{settings.port} with {replicas} replicas")
        asked.wait()
    finally:
        ray.serve.shutdown()
        ray.shutdown()


def _shared(url: str | None) -> str:
    """The database, opened once here so that the replicas find it up to date."""
    if url is None or not url.startswith("postgres"):
        raise AllearsError("replicas share one PostgreSQL: give its URL with --database postgresql://...")
    with Memory(url):
        return url


def _connected() -> Any:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.serve
    except ModuleNotFoundError as error:
        raise AllearsError("--ray needs Ray Serve: pip install 'allears[ray]'") from error
    if os.environ.get("RAY_ADDRESS"):
        ray.init(namespace=NAME)
    else:
        ray.init(namespace=NAME, include_dashboard=False, configure_logging=False)
    return ray


def _deploy(load: Load, settings: ServerSettings, url: str, replicas: int) -> None:
    """Start the replicas and wait until all of them answer."""
    from ray import serve

    # each replica counts for itself, so each gives its share
    share = replace(settings, rate=settings.rate / replicas, burst=max(1, settings.burst // replicas))

    def build() -> FastAPI:
        log_to_standard_error()
        return create_app(load(), Memory(url), share)

    quiet = {"enable_access_log": False}  # ours writes routes, theirs whole addresses
    serve.start(http_options={"host": settings.host, "port": settings.port}, logging_config=quiet)
    deployment = serve.deployment(
        name=NAME,
        num_replicas=replicas,
        max_ongoing_requests=settings.waiting,
        ray_actor_options={"num_cpus": 0},  # how many replicas share the cores is the person's choice
        logging_config=quiet,
    )(serve.ingress(build)())
    serve.run(deployment.bind(), name=NAME, route_prefix="/")
