"""A study's real server, and what people do on its pages, as the tests do it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from chromium import new_context
from patience import ANSWERS
from playwright.sync_api import Browser, Locator, Page, expect
from real_server import RealServer
from watching import watch

from allears.study.design import Design
from allears.study.design_file import read_design
from allears.study.frozen import Frozen, load_frozen
from allears.study.store import Store
from allears.study.units import build_units

Come = Callable[..., Page]


class StudyServer(RealServer):
    """`allears study serve` on a port of its own."""

    def __init__(self, study: Path) -> None:
        super().__init__(study)
        self.study = study

    def command(self) -> list[str]:
        return ["-m", "allears", "study", "serve", str(self.study), "--port", str(self.port), "--quiet"]

    def _is_well(self) -> bool:
        try:
            return httpx.get(f"{self.url}/api/study", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    @contextmanager
    def opened(self) -> Iterator[tuple[Design, Frozen, Store]]:
        """The study's database beside the server."""
        design = read_design(self.study)
        frozen = load_frozen(design, self.study)
        url = str(self.study / "answers.db")
        with Store(url, design, build_units(design, frozen), frozen.digest) as store:
            yield design, frozen, store

    def new_token(self) -> str:
        with self.opened() as (_, _, store):
            return store.new_link()

    def open_token(self) -> str:
        with self.opened() as (_, _, store):
            return store.open_token


@contextmanager
def served(study: Path) -> Iterator[StudyServer]:
    server = StudyServer(study)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def visitors(browser: Browser, server: StudyServer) -> Iterator[Come]:
    """People with a browser each. No page may call elsewhere, break its policy or crash."""
    opened: list[Any] = []

    def come(place: str = "", **options: Any) -> Page:
        """Somebody with a link of their own, or at the place that is named."""
        settings = {"viewport": {"width": 1360, "height": 860}, "reduced_motion": "reduce", **options}
        context = new_context(browser, server.url, **settings)
        opened.append((context, watch(context, server.url)))
        page = context.new_page()
        page.goto(place or f"/study#link={server.new_token()}")
        return page

    try:
        yield come
        for _, seen in opened:
            assert (seen.foreign, seen.violations, seen.crashes) == ([], [], [])
    finally:
        for context, _ in opened:
            context.close()


class Rater:
    """Somebody who takes part without a browser."""

    def __init__(self, server: StudyServer) -> None:
        token = server.new_token()
        self.client = httpx.Client(
            base_url=server.url, headers={"Authorization": f"Bearer {token}"}, timeout=ANSWERS
        )
        self.post("consent", {"agree": True})
        self.step: dict[str, Any] = self.post("begin", {})

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.client.post(f"/api/study/{path}", json=body)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    def answer(self, answers: dict[str, Any]) -> None:
        self.post(f"units/{self.step['unit']['key']}/answers", {"answers": answers})
        self.step = self.post("next", {})


def begin(page: Page) -> None:
    """Agree, and read what to do. What comes first in the study is shown when this returns."""
    page.get_by_role("button", name="I agree and want to begin").click()
    start = page.get_by_role("button", name="Begin", exact=True)
    start.click()
    expect(start).to_have_count(0)


def submit(page: Page) -> Locator:
    return page.get_by_role("button", name="Send and go on")


def send(page: Page) -> None:
    expect(submit(page)).to_be_enabled()
    submit(page).click()


def choose(page: Page, question: str, option: str) -> None:
    """An option of a question, pressed where a person presses it."""
    group = page.get_by_role("group", name=question)
    group.locator("label").filter(has=page.get_by_role("radio", name=option)).click()
    expect(group.get_by_role("radio", name=option)).to_be_checked()


def heading(page: Page) -> Locator:
    return page.get_by_role("heading", level=1)


def letter_of(page: Page, text: str) -> str:
    """The letter under which a reply stands."""
    for side in "AB":
        article = page.get_by_role("article", name=f"Reply {side}")
        expect(article).to_be_visible()
        if article.get_by_text(text).count():
            return side
    raise AssertionError(f"no reply says {text!r}")
