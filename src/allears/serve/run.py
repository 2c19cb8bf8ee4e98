"""Listening: the socket, the log, and uvicorn."""

from __future__ import annotations

import contextlib
import logging
import socket

import uvicorn
from fastapi import FastAPI

from allears.errors import AllearsError
from allears.serve.settings import ServerSettings

PATIENCE = 10  # seconds that running replies get when the server is asked to stop


def listen(settings: ServerSettings) -> socket.socket:
    """The socket, before anything slow is loaded, so that a taken port is told at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=1024)
    except OSError as error:
        raise AllearsError(
            f"cannot listen on {settings.host}, port {settings.port} ({error.strerror}); "
            "choose another with --host and --port"
        ) from error


def address(opened: socket.socket) -> str:
    """What to type into a browser."""
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(app: FastAPI, settings: ServerSettings, opened: socket.socket) -> None:
    """Serve until somebody presses Ctrl-C or ends the process; replies that are under way are finished."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # it would write down whole addresses; ours writes routes
        server_header=False,
        proxy_headers=False,
        ws_max_size=settings.body_bytes
        + 1024,  # a little more than is read: what is too large is told in words
        timeout_graceful_shutdown=PATIENCE,
    )
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[opened])


def log_to_standard_error(*, quiet: bool = False) -> None:
    """Our own lines (routes, statuses, times; never words), and what goes wrong elsewhere."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for name, level in (
        ("allears", logging.WARNING if quiet else logging.INFO),
        ("uvicorn", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
