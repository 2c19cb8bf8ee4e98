"""What a person does on the page, as the tests do it."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect
from real_server import RealServer


def composer(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Your message")


def messages(page: Page) -> Locator:
    """Everything that was said and answered, in order."""
    return page.get_by_role("region", name="Conversation").locator("ol > li")


def say(page: Page, text: str) -> str:
    """Say something, wait for the answer, return it."""
    before = messages(page).count()
    composer(page).fill(text)
    composer(page).press("Enter")
    expect(messages(page)).to_have_count(before + 2)
    return last_reply(page)


def last_reply(page: Page) -> str:
    return messages(page).last.locator("p").first.inner_text()


def no_to_consent(page: Page) -> None:
    page.get_by_role("button", name="No, thank you").click()
    expect(page.get_by_role("button", name="No, thank you")).to_have_count(0)


def conversation_id(page: Page) -> str:
    found = re.search(r"#/c/([0-9a-f]{16})$", page.url)
    assert found, page.url
    return found[1]


def last_why(page: Page, server: RealServer) -> dict[str, Any]:
    """What the server knows about the reasons for the last reply."""
    path = f"/api/conversations/{conversation_id(page)}/turns/{messages(page).count()}/why"
    found: dict[str, Any] = server.get(path)["why"]
    return found


def section(page: Page, title: str) -> Locator:
    """A part of the reasons, opened if it is folded."""
    button = page.get_by_role("button", name=title, exact=True)
    if button.get_attribute("aria-expanded") == "false":
        button.click()
    return page.get_by_role("region", name=title, exact=True)
