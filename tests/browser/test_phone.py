"""The page on a phone: nothing sticks out, everything is in reach of a thumb."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from resting import rest
from talking_in_browser import composer, go_to, say


@pytest.fixture
def context_options() -> dict[str, Any]:
    return {
        "viewport": {"width": 390, "height": 844},
        "has_touch": True,
        "is_mobile": True,
        "reduced_motion": "reduce",
    }


def test_talking_the_list_and_the_reasons_work_on_a_phone(page: Page) -> None:
    say(page, "My knee hurts and I cannot run.")
    page.get_by_role("button", name="No, thank you").tap()
    expect(page.get_by_role("heading", name="May I remember you?")).to_have_count(0)
    page.get_by_role("button", name="Show why").tap()
    sheet = page.get_by_role("dialog", name="Why")
    expect(sheet.get_by_text("The feeling heard")).to_be_visible()
    sheet.get_by_role("button", name="Hide why").tap()
    expect(sheet).to_have_count(0)
    page.get_by_role("button", name="Open the list").tap()
    page.get_by_role("link", name="About you").tap()
    expect(page.get_by_role("heading", name="About you")).to_be_visible()
    page.get_by_role("button", name="Open the list").tap()
    page.get_by_role("navigation").get_by_role("link", name="My knee hurts").tap()
    expect(page.get_by_role("heading", level=1)).to_have_text("My knee hurts and I cannot run.")
    expect(composer(page)).to_be_in_viewport()


@pytest.mark.parametrize("place", ["", "about-you", "listeners", "compare", "help"])
def test_nothing_is_wider_than_the_phone(page: Page, place: str) -> None:
    if place:
        go_to(page, place)
    else:
        expect(page.get_by_role("heading", name="I'm all ears.")).to_be_visible()
    rest(page)
    too_wide = page.evaluate(
        """() => [...document.querySelectorAll("body *")]
        .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && element.checkVisibility())
        .map((element) => element.className)"""
    )
    assert too_wide == []


def test_what_is_pressed_is_large_enough_for_a_finger(page: Page) -> None:
    say(page, "Hello.")
    expect(page.get_by_role("heading", name="May I remember you?")).to_be_visible()
    rest(page)
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, a[href]")]
        .filter((element) => element.checkVisibility() && !element.closest("p"))
        .map((element) => [element.textContent || element.ariaLabel, element.getBoundingClientRect()])
        .filter(([, box]) => box.width > 1 && (box.width < 24 || box.height < 24))
        .map(([name]) => name)"""
    )
    assert small == []  # WCAG 2.2, target size (minimum): 24 by 24
