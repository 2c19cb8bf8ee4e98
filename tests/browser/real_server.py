"""The real server with the shipped listener, in a process of its own, for the browser to talk to."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import weakref
from pathlib import Path
from typing import Any

import httpx
from patience import ANSWERS, STARTS


class RealServer:
    """`allears serve` on a port of its own; it can be stopped and started again on the same one."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.database = folder / "memory.db"
        self.log = folder / "server.log"
        self.options = options
        held = _held_port()
        self.port: int = held.getsockname()[1]
        if sys.platform == "linux":
            weakref.finalize(self, held.close)
        else:  # there the server could not bind it beside us
            held.close()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen([sys.executable, *self.command()], stdout=log, stderr=log)
        end = time.monotonic() + STARTS
        while not self._is_well():
            if self._process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise RuntimeError(f"the server did not start:\n{self.log.read_text()}")
            time.sleep(0.1)

    def command(self) -> list[str]:
        """What Python is started with."""
        command = ["-m", "allears", "serve", "--port", str(self.port), "--quiet"]
        return [
            *command,
            "--database",
            str(self.database),
            "--rate",
            "1000",
            "--burst",
            "1000",
            *self.options,
        ]

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def post(self, path: str, body: Any = None) -> Any:
        """Ask it something beside the page."""
        answer = httpx.post(f"{self.url}{path}", json=body, timeout=ANSWERS)
        answer.raise_for_status()
        return answer.json()

    def get(self, path: str) -> Any:
        return self.response(path).json()

    def response(self, path: str) -> httpx.Response:
        return httpx.get(f"{self.url}{path}", timeout=ANSWERS).raise_for_status()

    def put(self, path: str, body: Any) -> None:
        httpx.put(f"{self.url}{path}", json=body, timeout=ANSWERS).raise_for_status()

    def delete(self, path: str) -> None:
        httpx.delete(f"{self.url}{path}", timeout=ANSWERS).raise_for_status()

    def forget_everything(self) -> None:
        """Each test meets a person of whom nothing is known."""
        self.post("/api/erase", {"sure": True})

    def _is_well(self) -> bool:
        try:
            return httpx.get(f"{self.url}/api/health", timeout=5).status_code == 200
        except httpx.TransportError:
            return False


class ServerOfVoices(RealServer):
    """The shipped listener, and a second voice that takes an α."""

    def command(self) -> list[str]:
        return [str(Path(__file__).with_name("server_of_voices.py")), str(self.port), str(self.database)]


def _held_port() -> socket.socket:
    """A port of one's own. On Linux nobody else is given it, not even while the server is stopped.

    A socket that is bound and does not listen keeps it. The server may bind it all the same: both reuse addresses.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held
