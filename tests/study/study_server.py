"""A study's server in a process of its own: `python study_server.py FOLDER DATABASE PORT`. Tests may kill it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from allears.safety.screen import CrisisScreen
from allears.serve.run import address, listen, run
from allears.study.app import StudySettings, create_study_app
from allears.study.design_file import read_design
from allears.study.frozen import load_frozen
from allears.study.session import Sessions
from allears.study.simulate import Parrot
from allears.study.store import Store
from allears.study.units import build_units


@contextmanager
def study_process(folder: Path, database: str, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running server and its address. It is killed, without a warning, when the block ends."""
    command = [sys.executable, __file__, str(folder), database, str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url
        wait_until_served(url)
        yield process, url
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def wait_until_served(url: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if httpx.get(f"{url}/api/study", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise TimeoutError(f"{url} does not answer")


def main() -> None:
    folder, database, port = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    design = read_design(folder)
    frozen = load_frozen(design, folder)
    settings = StudySettings(port=port, rate=1000, burst=1000)
    with (
        Store(database, design, build_units(design, frozen), frozen.digest) as store,
        listen(settings) as opened,
    ):
        talkers = {system.name: Parrot() for system in design.systems}
        app = create_study_app(Sessions(design, frozen, store, talkers, screen=CrisisScreen(None)), settings)
        print(address(opened), flush=True)
        run(app, settings, opened)


if __name__ == "__main__":
    main()
