"""axe looks at every view, in light and dark, and finds nothing serious."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chromium import new_context
from playwright.sync_api import Browser, Page, expect
from real_server import RealServer
from resting import rest
from talking_in_browser import PAGES, all_is_told, come_in, composer, go_to, listener, say, yes_to_consent

SERIOUS = {"serious", "critical"}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(params=["light", "dark"])
def context_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {
        "viewport": {"width": 1360, "height": 860},
        "color_scheme": request.param,
        "reduced_motion": "reduce",
        "bypass_csp": True,  # to bring axe in; the other tests run with the policy
    }


@pytest.fixture(scope="session")
def axe(web_folder: Path) -> str:
    script = web_folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        pytest.skip("axe-core is not installed; `make test` installs it")
    return script.read_text(encoding="utf-8")


def problems(page: Page, axe: str) -> list[str]:
    """What axe finds. What should be looked at must be there already; that it stands still is waited for."""
    rest(page)
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(content=axe)
    found = page.evaluate(
        "(tags) => axe.run(document, {runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']})",
        RULES,
    )
    return [
        f"{each['id']}: {each['help']}: {node['html'][:160]} {node['any'][0]['message'] if node['any'] else ''}"
        for each in found["violations"]
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]


def test_axe_finds_nothing_serious_while_talking(page: Page, axe: str) -> None:
    assert problems(page, axe) == []
    say(page, "I live in Leeds and my dog is ill.")
    all_is_told(page, "I live in Leeds")
    expect(page.get_by_role("heading", name="May I remember you?")).to_be_visible()
    assert problems(page, axe) == []
    yes_to_consent(page)
    say(page, "She is eleven.")
    page.get_by_role("button", name="All 32 emotions").click()
    for title in ("Words that matched", "What else it could have said", "Time per step", "Safety check"):
        page.get_by_role("button", name=title).click()
    expect(page.get_by_text("The answer", exact=True)).to_be_visible()
    assert problems(page, axe) == []
    page.get_by_role("button", name="Edit your message").first.click()
    editor = page.get_by_role("textbox", name="Edit your message")
    expect(editor).to_be_focused()
    assert problems(page, axe) == []
    editor.press("Escape")
    expect(editor).to_have_count(0)
    page.get_by_role("button", name="What to do with").click()
    expect(page.get_by_role("menuitem", name="Erase")).to_be_visible()
    assert problems(page, axe) == []
    page.get_by_role("menuitem", name="Erase").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert problems(page, axe) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    listener(page).click()
    expect(page.get_by_role("dialog", name="Who listens?")).to_be_visible()
    assert problems(page, axe) == []


def test_axe_finds_nothing_serious_in_a_crisis(page: Page, axe: str) -> None:
    say(page, "I don't want to live any more.")
    expect(page.get_by_role("link", name="Call 999")).to_be_visible()
    assert problems(page, axe) == []


def test_axe_finds_nothing_serious_on_the_other_pages(page: Page, axe: str) -> None:
    say(page, "I have two cats.")
    for place in PAGES:
        go_to(page, place)
        if place == "listeners":
            page.get_by_role("button", name="Ask all three").click()
            expect(page.get_by_text("Runners-up").first).to_be_visible()
        if place == "compare":
            page.get_by_role("textbox", name="The message").fill("I got the job.")
            page.get_by_role("button", name="Ask", exact=True).click()
            expect(page.get_by_text("Runners-up").first).to_be_visible()
        assert problems(page, axe) == [], place


def test_axe_finds_nothing_serious_when_something_is_wrong(page: Page, axe: str) -> None:
    page.route("**/api/**", lambda route: route.abort())
    composer(page).fill("Hello?")
    composer(page).press("Enter")
    expect(page.get_by_text("Not sent yet.")).to_be_visible()
    assert problems(page, axe) == []
    refusal = {"error": "A valid access token is needed."}
    page.route("**/api/conversations**", lambda route: route.fulfill(status=401, json=refusal))
    page.unroute("**/api/**")  # after the other: the server must not be back and open in between
    expect(page.get_by_role("heading", name="Who is there?")).to_be_visible()
    assert problems(page, axe) == []


def test_axe_finds_nothing_serious_on_a_phone(browser: Browser, server: RealServer, axe: str) -> None:
    context = new_context(
        browser,
        server.url,
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        reduced_motion="reduce",
        bypass_csp=True,
    )
    page = context.new_page()
    come_in(page)
    say(page, "I have two cats.")
    assert problems(page, axe) == []
    page.get_by_role("button", name="Show why").tap()
    expect(page.get_by_role("dialog", name="Why")).to_be_visible()
    assert problems(page, axe) == []
    page.get_by_role("dialog").get_by_role("button", name="Hide why").tap()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Open the list").tap()
    expect(page.get_by_role("searchbox")).to_be_visible()
    assert problems(page, axe) == []
    context.close()
