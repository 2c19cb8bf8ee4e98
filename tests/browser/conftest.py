"""A real browser before a real server. Every test also proves that the page calls nobody else and breaks no policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import found_chromium, launch, new_context
from patience import PATIENCE
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from real_server import RealServer
from talking_in_browser import come_in
from watching import Watched, watch

DESKTOP = {"width": 1360, "height": 860}

expect.set_options(timeout=PATIENCE)


# Playwright keeps an event loop running in its thread: it must be gone before other tests run loops of their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if found_chromium() is None:
        pytest.skip("Chromium is not installed; `make test` installs it")
    with sync_playwright() as playwright:
        opened = launch(playwright)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    server = RealServer(tmp_path_factory.mktemp("server"), "--country", "GB")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def server(shared_server: RealServer) -> RealServer:
    """A server that knows nothing about anybody."""
    shared_server.forget_everything()
    return shared_server


@pytest.fixture
def context_options() -> dict[str, Any]:
    """How the browser looks at the page; a test module may say otherwise."""
    return {"viewport": DESKTOP, "reduced_motion": "reduce"}


@pytest.fixture
def context(
    browser: Browser, server: RealServer, context_options: dict[str, Any]
) -> Iterator[BrowserContext]:
    opened = new_context(browser, server.url, accept_downloads=True, **context_options)
    yield opened
    opened.close()


@pytest.fixture
def watched(context: BrowserContext, server: RealServer) -> Iterator[Watched]:
    seen = watch(context, server.url)
    yield seen
    assert seen.foreign == [], "the page called somebody else"
    assert seen.violations == [], "the page broke its content security policy"
    assert seen.crashes == [], "a script of the page failed"


@pytest.fixture
def page(context: BrowserContext, watched: Watched) -> Page:
    opened = context.new_page()
    come_in(opened)
    return opened


@pytest.fixture(scope="session")
def web_folder() -> Path:
    return Path(__file__).parents[2] / "web"
