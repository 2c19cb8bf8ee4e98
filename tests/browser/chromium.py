"""The Chromium that the system has, with nothing that calls home."""

from __future__ import annotations

import shutil

from playwright.sync_api import Browser, Playwright

FLAGS = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-gpu")
NAMES = ("chromium", "chromium-browser", "google-chrome")


def found_chromium() -> str | None:
    """Where Chromium is; None if it is not installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=found_chromium(), args=list(FLAGS))
