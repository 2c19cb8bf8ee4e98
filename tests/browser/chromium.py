"""The Chromium that the system has, with nothing that calls home."""

from __future__ import annotations

import shutil
from typing import Any

from patience import PATIENCE
from playwright.sync_api import Browser, BrowserContext, Playwright

FLAGS = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-gpu")
NAMES = ("chromium", "chromium-browser", "google-chrome")


def found_chromium() -> str | None:
    """Where Chromium is; None if it is not installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(
        executable_path=found_chromium(), args=list(FLAGS), timeout=2 * PATIENCE
    )


def new_context(browser: Browser, url: str, **options: Any) -> BrowserContext:
    """Somebody's browser, empty, before the server at this address."""
    context = browser.new_context(base_url=url, **options)
    context.set_default_timeout(PATIENCE)
    return context
