"""The study's pages on a phone, with a keyboard only, and as axe sees them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from resting import rest
from studies_made_up import (
    PREFERENCE,
    SCALES,
    TWO_REPLIES,
    chat_study,
    collecting_study,
    judging_study,
    rating_study,
)
from taking_part import StudyServer, begin, choose, heading, send, served, submit, visitors
from test_accessibility import problems

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DARK_PHONE = {**PHONE, "color_scheme": "dark"}
LOOKS = [pytest.param({"color_scheme": "light"}, id="light"), pytest.param(DARK_PHONE, id="dark phone")]


@pytest.fixture(scope="module")
def rating(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudyServer]:
    """Everything that can be asked about two replies."""
    folder = tmp_path_factory.mktemp("rating") / "study"
    with served(rating_study(folder, TWO_REPLIES + SCALES + PREFERENCE, items=1, per_unit=50)) as server:
        yield server


@pytest.fixture(scope="module")
def judging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudyServer]:
    with served(judging_study(tmp_path_factory.mktemp("judging") / "study", per_unit=50)) as server:
        yield server


@pytest.fixture(scope="module")
def collecting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudyServer]:
    with served(collecting_study(tmp_path_factory.mktemp("collecting") / "study")) as server:
        yield server


@pytest.fixture(scope="module")
def chatting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudyServer]:
    with served(chat_study(tmp_path_factory.mktemp("chatting") / "study", per_unit=50)) as server:
        yield server


@pytest.fixture(scope="module")
def axe_script(web_folder: Path) -> str:
    script = web_folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        pytest.skip("axe-core is not installed; `make test` installs it")
    return script.read_text(encoding="utf-8")


def _fits(page: Page, title: str) -> None:
    """The page with this heading, when it has come to rest, fits on the screen and under a finger."""
    expect(heading(page)).to_have_text(title)
    rest(page)
    assert (_too_wide(page), _too_small(page)) == ([], [])


def _too_wide(page: Page) -> list[str]:
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("body *")]
        .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && element.checkVisibility())
        .map((element) => element.className)"""
    )
    return found


def _too_small(page: Page) -> list[str]:
    """WCAG 2.2, target size (minimum): 24 by 24."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("button, a[href], label:has(input)")]
        .filter((element) => element.checkVisibility())
        .map((element) => [element.textContent || element.ariaLabel, element.getBoundingClientRect()])
        .filter(([, box]) => box.width < 24 || box.height < 24)
        .map(([name]) => name)"""
    )
    return found


def test_a_whole_study_on_a_phone(browser: Browser, rating: StudyServer) -> None:
    with visitors(browser, rating) as come:
        page = come(**PHONE)
        for title, button in (("Before you begin", "I agree and want to begin"), ("What to do", "Begin")):
            _fits(page, title)
            page.get_by_role("button", name=button, exact=True).tap()
        _fits(page, "Task 1 of 1")
        for group in page.get_by_role("group").all():
            group.locator("label").last.tap()
        submit(page).tap()
        _fits(page, "All done")


def test_talking_and_pairs_fit_on_a_phone(
    browser: Browser, chatting: StudyServer, collecting: StudyServer
) -> None:
    with visitors(browser, chatting) as come:
        page = come(**PHONE)
        begin(page)
        page.get_by_role("textbox", name="Your line to Listener B").fill("a" * 300)
        page.get_by_role("button", name="Send to Listener B").tap()
        expect(page.get_by_role("article", name="Listener B").locator("li[data-who] p")).to_have_count(2)
        _fits(page, "Task 1 of 1")
    with visitors(browser, collecting) as come:
        page = come(**PHONE)
        begin(page)
        _fits(page, "Something that happened to you")


def _tab_to(page: Page, role: str, name: str) -> None:
    target = page.get_by_role(role, name=name).first  # type: ignore[arg-type]
    for _ in range(40):
        page.keyboard.press("Tab")
        if target.evaluate("(element) => element === document.activeElement"):
            return
    raise AssertionError(f"no way to {name!r} by Tab")


def test_a_whole_study_without_a_mouse(browser: Browser, rating: StudyServer) -> None:
    with visitors(browser, rating) as come:
        page = come()
        expect(heading(page)).to_be_focused()
        _tab_to(page, "button", "I agree and want to begin")
        page.keyboard.press("Enter")
        expect(heading(page)).to_have_text("What to do")
        expect(heading(page)).to_be_focused()
        _tab_to(page, "button", "Begin")
        page.keyboard.press("Enter")
        expect(heading(page)).to_have_text("Task 1 of 1")
        expect(heading(page)).to_be_focused()  # reading begins at the top of the new page
        for group in page.get_by_role("group").all():
            page.keyboard.press("Tab")
            inside = "(group) => group.contains(document.activeElement)"
            assert group.evaluate(inside)
            outline = "getComputedStyle(document.activeElement.nextElementSibling).outlineStyle"
            parent = "getComputedStyle(document.activeElement.parentElement).outlineStyle"
            assert "solid" in (page.evaluate(outline), page.evaluate(parent))  # one sees where one is
            page.keyboard.press("ArrowRight")
            page.keyboard.press("ArrowRight")
            expect(group.get_by_role("radio").nth(2)).to_be_checked()
        expect(submit(page)).to_be_enabled()
        page.keyboard.press("Tab")
        expect(submit(page)).to_be_focused()
        page.keyboard.press("Enter")
        expect(heading(page)).to_have_text("All done")
        expect(heading(page)).to_be_focused()
        _tab_to(page, "button", "Copy the code")


def test_a_paired_conversation_without_a_mouse(browser: Browser, collecting: StudyServer) -> None:
    with visitors(browser, collecting) as come:
        one, other = come(), come()
        for page in (one, other):
            begin(page)
            expect(heading(page)).to_have_text("Something that happened to you")
            expect(heading(page)).to_be_focused()
            page.keyboard.press("Tab")
            page.keyboard.press("Space")
            expect(page.get_by_role("radio").first).to_be_checked()
            page.keyboard.press("Tab")
            expect(page.get_by_role("textbox", name="Your situation")).to_be_focused()
            page.keyboard.type("We found a nest with four eggs in our garden.")
            find = page.get_by_role("button", name="Find me a partner")
            expect(find).to_be_enabled()
            page.keyboard.press("Tab")
            expect(find).to_be_focused()
            page.keyboard.press("Enter")
            expect(find).to_have_count(0)
        for page in (one, other):
            expect(page.get_by_role("textbox", name="Your line")).to_be_visible()
            expect(heading(page)).to_be_focused()
        speaks = heading(one).inner_text() == "You are the speaker"
        speaker, listener = (one, other) if speaks else (other, one)
        _tab_to(speaker, "textbox", "Your line")
        speaker.keyboard.type("Four blue eggs!")
        speaker.keyboard.press("Enter")
        expect(listener.get_by_text("Four blue eggs!")).to_be_visible()
        expect(speaker.get_by_role("textbox", name="Your line")).to_be_focused()


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_serious_in_a_rating_study(
    browser: Browser, rating: StudyServer, axe_script: str, look: dict[str, Any]
) -> None:
    with visitors(browser, rating) as come:
        page = come(bypass_csp=True, **look)  # to bring axe in; the other tests run with the policy
        expect(heading(page)).to_have_text("Before you begin")
        assert problems(page, axe_script) == []
        page.get_by_role("button", name="I agree and want to begin").click()
        expect(heading(page)).to_have_text("What to do")
        assert problems(page, axe_script) == []
        page.get_by_role("button", name="Begin", exact=True).click()
        expect(heading(page)).to_have_text("Task 1 of 1")
        assert problems(page, axe_script) == []
        for group in page.get_by_role("group").all():
            group.locator("label").first.click()
            expect(group.get_by_role("radio").first).to_be_checked()
        assert problems(page, axe_script) == []
        page.get_by_role("button", name="Help lines").click()
        expect(page.get_by_role("dialog").get_by_role("listitem").first).to_be_visible()
        assert problems(page, axe_script) == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_role("button", name="Withdraw from the study").click()
        expect(page.get_by_role("dialog", name="Withdraw from the study?")).to_be_visible()
        assert problems(page, axe_script) == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.route("**/answers", lambda route: route.abort())
        send(page)
        expect(page.get_by_text("The server cannot be reached.")).to_be_visible()
        assert problems(page, axe_script) == []
        page.unroute("**/answers")
        expect(heading(page)).to_have_text("All done")
        assert problems(page, axe_script) == []
        outside = come("/study", bypass_csp=True, **look)
        expect(outside.get_by_text("Please open the link")).to_be_visible()
        assert problems(outside, axe_script) == []


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_serious_in_the_other_studies(
    browser: Browser,
    judging: StudyServer,
    chatting: StudyServer,
    collecting: StudyServer,
    axe_script: str,
    look: dict[str, Any],
) -> None:
    with visitors(browser, judging) as come:
        page = come(bypass_csp=True, **look)
        begin(page)
        choose(page, "What do you make", "Something else")
        assert problems(page, axe_script) == []
    with visitors(browser, chatting) as come:
        page = come(bypass_csp=True, **look)
        begin(page)
        page.get_by_role("textbox", name="Your line to Listener A").fill("I don't want to live any more.")
        page.get_by_role("button", name="Send to Listener A").click()
        expect(page.get_by_role("region", name="People who can help now")).to_be_visible()
        expect(page.get_by_role("img", name="Listener A is writing")).to_have_count(0)
        assert problems(page, axe_script) == []
    with visitors(browser, collecting) as come:
        one, other = come(bypass_csp=True, **look), come(bypass_csp=True, **look)
        for page in (one, other):
            begin(page)
            page.get_by_role("group").locator("label").first.click()
            page.get_by_role("textbox").fill("Our neighbour sang all night long again.")
            assert problems(page, axe_script) == []
            page.get_by_role("button", name="Find me a partner").click()
            expect(page.get_by_text("Find me a partner")).to_have_count(0)
            if page is one:
                expect(heading(page)).to_have_text("Looking for somebody to talk with you")
                assert problems(page, axe_script) == []  # waiting
        for page in (one, other):
            expect(page.get_by_role("textbox", name="Your line")).to_be_visible()
            assert problems(page, axe_script) == []
