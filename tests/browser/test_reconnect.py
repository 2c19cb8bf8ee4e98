"""The server goes away and comes back: no word is lost, and none is said twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from real_server import RealServer
from talking_in_browser import all_is_told, composer, messages, say


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    """One of its own, to be stopped."""
    opened = RealServer(tmp_path, "--country", "GB")
    opened.start()
    yield opened
    opened.stop()


def test_a_message_sent_into_the_void_is_answered_once_when_the_server_is_back(
    page: Page, server: RealServer
) -> None:
    say(page, "I start a new school on Monday.")
    all_is_told(page, "I start a new school")
    server.stop()
    composer(page).fill("Are you there?")
    composer(page).press("Enter")
    expect(page.get_by_text("The server cannot be reached.")).to_be_visible()
    expect(page.get_by_text("Not sent yet.")).to_be_visible()
    composer(page).fill("a draft that must not be lost")
    server.start()
    expect(messages(page)).to_have_count(4)
    expect(page.get_by_text("The server cannot be reached.")).to_have_count(0)
    expect(composer(page)).to_have_value("a draft that must not be lost")
    page.reload()
    expect(messages(page)).to_have_count(4)
    expect(composer(page)).to_have_value("a draft that must not be lost")


def test_a_page_that_was_closed_in_between_sends_what_was_not_answered(
    page: Page, server: RealServer
) -> None:
    say(page, "Hello.")
    page.route("**/messages/stream", lambda route: route.abort())
    composer(page).fill("This one was on its way.")
    composer(page).press("Enter")
    expect(page.get_by_text("Not sent yet.")).to_be_visible()
    page.unroute("**/messages/stream")
    page.reload()
    expect(messages(page)).to_have_count(4)
    expect(messages(page).nth(2)).to_contain_text("This one was on its way.")


def test_a_message_that_waits_can_be_taken_back(page: Page, server: RealServer) -> None:
    say(page, "Hello.")
    all_is_told(page, "Hello.")
    server.stop()
    composer(page).fill("Never mind.")
    composer(page).press("Enter")
    page.get_by_role("button", name="Take it back").click()
    expect(composer(page)).to_have_value("Never mind.")
    server.start()
    expect(page.get_by_text("The server cannot be reached.")).to_have_count(0)
    expect(messages(page)).to_have_count(2)
