"""A server with a scripted listener, asked without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from allears.memory import Memory
from allears.serve.app import create_app
from allears.serve.settings import ServerSettings
from databases import no_settings, postgres_server  # noqa: F401
from echo_listener import Echo
from serving import ANNA, BEN

Serve = Callable[..., TestClient]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db")) as opened:
        yield opened


@pytest.fixture
def serve(memory: Memory) -> Iterator[Serve]:
    """Start a server; keyword arguments are its settings, `responder` its listener."""
    with ExitStack() as stack:

        def start(responder: Any = None, **settings: Any) -> TestClient:
            choices = {"rate": 1000.0, "burst": 1000} | settings
            app = create_app(responder or Echo(), memory, ServerSettings(**choices))
            return stack.enter_context(
                TestClient(app, base_url="http://localhost", raise_server_exceptions=False)
            )

        yield start


@pytest.fixture
def client(serve: Serve) -> TestClient:
    """A server on this machine, without tokens."""
    return serve()


@pytest.fixture
def people(serve: Serve) -> tuple[TestClient, TestClient]:
    """Two people at one server."""
    anna = serve(tokens=(ANNA, BEN))
    ben = TestClient(anna.app, base_url="http://localhost", raise_server_exceptions=False)
    ben.portal = anna.portal  # the same event loop: they are at the same server
    anna.headers["Authorization"] = f"Bearer {ANNA}"
    ben.headers["Authorization"] = f"Bearer {BEN}"
    return anna, ben
