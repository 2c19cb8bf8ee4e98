"""A real server in a process of its own, with the echoing listener: `python live_server.py --help`.

Tests start it with `live_server`, talk to it over the network, and may kill it.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from allears.memory import Memory
from allears.serve.app import create_app
from allears.serve.run import address, listen, log_to_standard_error, run
from allears.serve.settings import ServerSettings
from echo_listener import Echo


class LiveServer:
    """A running server: its process, its address, and the file with its log."""

    def __init__(self, process: subprocess.Popen[str], url: str, log: Path) -> None:
        self.process = process
        self.url = url
        self.log = log

    def kill(self) -> None:
        """As the machine would: no warning, no farewell."""
        self.process.kill()
        self.process.wait()


@contextmanager
def live_server(
    database: str, folder: Path, *options: object, tokens: Sequence[str] = ()
) -> Iterator[LiveServer]:
    """Start a server and wait until it listens."""
    log = folder / f"server-{time.monotonic_ns()}.log"
    command = [sys.executable, __file__, "--database", database, *map(str, options)]
    for token in tokens:
        command += ["--token", token]
    with log.open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url, log.read_text()
        wait_until_well(url, process)
        yield LiveServer(process, url, log)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def wait_until_well(url: str, process: subprocess.Popen[str] | None = None, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process is not None and process.poll() is not None:
            raise RuntimeError(f"the server left with {process.returncode} before it was well")
        try:
            if httpx.get(f"{url}/api/health", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise TimeoutError(f"{url} is not well after {seconds} s")


class DyingMemory(Memory):
    """Dies between the storing and the answer, the first time."""

    def append(self, *arguments: Any, **options: Any) -> None:
        super().append(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", required=True)
    parser.add_argument("--token", action="append", default=[])
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--die-after-storing", action="store_true")
    parser.add_argument("--token-file", type=Path)  # and what else the benchmark asks of `allears serve`
    parser.add_argument("--rate", type=float, default=1000)
    parser.add_argument("--burst", type=int, default=1000)
    parser.add_argument("--no-batching", action="store_true")
    parser.add_argument("--quiet", action="store_true")
    choices = parser.parse_args()
    log_to_standard_error(quiet=choices.quiet)
    tokens = (*choices.token, *(choices.token_file.read_text().split() if choices.token_file else ()))
    settings = ServerSettings(
        port=choices.port,
        tokens=tokens,
        rate=choices.rate,
        burst=choices.burst,
        batching=not choices.no_batching,
    )
    kind = DyingMemory if choices.die_after_storing else Memory
    with listen(settings) as opened, kind(choices.database) as memory:
        print(address(opened), flush=True)
        run(create_app(Echo(choices.delay), memory, settings), settings, opened)


if __name__ == "__main__":
    main()
