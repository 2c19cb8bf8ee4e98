"""What ships is what the sources say, and it is light."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from chromium import new_context
from playwright.sync_api import Browser
from real_server import RealServer
from talking_in_browser import come_in

import allears.serve

SHIPPED = Path(allears.serve.__file__).parent / "static"
FIRST_LOAD = 350 * 1024  # bytes over the wire


def _files(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_what_ships_is_built_from_the_sources(web_folder: Path, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    npm = shutil.which("npm", path=path)
    if npm is None or not (web_folder / "node_modules").is_dir():
        pytest.skip("Node's packages are not installed; `make test` installs them")
    built = subprocess.run(
        [npm, "run", "--silent", "build", "--", "--outDir", str(tmp_path), "--logLevel", "warn"],
        cwd=web_folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        check=False,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert _files(tmp_path) == _files(SHIPPED), "`make web` was not run after the last change"
    same, different, unread = filecmp.cmpfiles(tmp_path, SHIPPED, _files(SHIPPED), shallow=False)
    assert (different, unread) == ([], [])
    assert len(same) == len(_files(SHIPPED))


def test_the_first_load_is_light(browser: Browser, server: RealServer) -> None:
    context = new_context(browser, server.url)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    come_in(page)
    page.wait_for_load_state("networkidle")
    assert 50 * 1024 < sum(sizes) < FIRST_LOAD, f"{sum(sizes) / 1024:.0f} KB"
    context.close()


def test_nothing_that_ships_names_another_machine() -> None:
    """Not even in a font or a style: what is not named cannot be called."""
    for name in _files(SHIPPED):
        if name.endswith((".html", ".css")):
            text = (SHIPPED / name).read_text(encoding="utf-8")
            assert "http://" not in text.replace("http://www.w3.org/", ""), name
            assert "https://" not in text, name
