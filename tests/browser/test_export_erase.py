"""Taking one's words along, and making them go."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Page, expect
from real_server import RealServer
from talking_in_browser import composer, say


def _saved(page: Page, choice: str) -> str:
    page.get_by_role("button", name="What to do with").first.click()
    with page.expect_download() as saving:
        page.get_by_role("menuitem", name=choice).click()
    return Path(saving.value.path()).read_text(encoding="utf-8")


def test_a_conversation_is_saved_as_text_and_as_data(page: Page) -> None:
    reply = say(page, "I repainted the kitchen.")
    text = _saved(page, "Save as text (Markdown)")
    assert "I repainted the kitchen." in text
    assert reply in text
    data = json.loads(_saved(page, "Save as data (JSON)"))
    assert "I repainted the kitchen." in json.dumps(data)


def test_an_erased_conversation_is_gone_everywhere(page: Page, server: RealServer) -> None:
    say(page, "Nobody must know about the llama.")
    page.get_by_role("button", name="What to do with").click()
    page.get_by_role("menuitem", name="Erase").click()
    page.get_by_role("button", name="Keep it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("link", name="Nobody must know")).to_be_visible()
    expect(page.get_by_role("button", name="What to do with")).to_be_focused()
    page.get_by_role("button", name="What to do with").click()
    page.get_by_role("menuitem", name="Erase").click()
    page.get_by_role("button", name="Erase it").click()
    expect(page.get_by_text("The conversation is erased.")).to_be_visible()
    expect(page.get_by_role("link", name="Nobody must know")).to_have_count(0)
    expect(page.get_by_role("heading", name="I'm all ears.")).to_be_visible()
    assert "llama" not in server.response("/api/export").text


def test_everything_is_saved_and_everything_is_erased(page: Page, server: RealServer) -> None:
    say(page, "My cat is called Otto.")
    composer(page).fill("a half-written secret")
    page.get_by_role("link", name="About you").click()
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save everything (JSON)").click()
    assert "Otto" in Path(saving.value.path()).read_text(encoding="utf-8")

    page.get_by_role("button", name="Erase everything").click()
    page.get_by_role("dialog").get_by_role("button", name="Erase everything").click()
    expect(page.get_by_text("Everything is erased.")).to_be_visible()
    expect(page.get_by_text("Nothing is noted about you.")).to_be_visible()
    expect(page.get_by_text("What you talk about will be listed here.")).to_be_visible()
    assert "Otto" not in server.response("/api/export").text
    kept: str = page.evaluate("JSON.stringify(localStorage)")
    assert "secret" not in kept
    assert "Otto" not in kept
