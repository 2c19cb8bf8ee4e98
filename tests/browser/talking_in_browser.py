"""What a person does on the page, as the tests do it."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect
from real_server import RealServer
from resting import rest

PAGES = {
    "about-you": "About you",
    "listeners": "One message, three listeners",
    "compare": "Compare voices",
    "help": "People who can help",
    "nowhere": "There is no such page.",
}


def come_in(page: Page) -> None:
    """Open the page. What it asks the server at first (voices, consent, the list) is there when this returns."""
    page.goto("/")
    expect(composer(page)).to_be_visible()
    expect(listener(page)).to_be_visible()
    rest(page)


def go_to(page: Page, place: str) -> None:
    """One of the pages beside the conversation; it is shown when this returns."""
    page.goto(f"/#/{place}")
    expect(page.get_by_role("heading", level=1)).to_have_text(PAGES[place])


def composer(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Your message")


def listener(page: Page) -> Locator:
    """The button that says who listens; it comes with what the server knows about itself and the person's consent."""
    return page.get_by_role("button", name="Listener:")


def messages(page: Page) -> Locator:
    """Everything that was said and answered, in order."""
    return page.get_by_role("region", name="Conversation").locator("ol > li")


def reply_shown(page: Page) -> Locator:
    """The last reply's words."""
    return messages(page).last.locator("p").first


def say(page: Page, text: str) -> str:
    """Say something, wait for the answer, return it."""
    _settled(page)
    before = messages(page).count()
    composer(page).fill(text)
    composer(page).press("Enter")
    expect(messages(page)).to_have_count(before + 2)
    _settled(page)  # an answer is there before its words are
    return last_reply(page)


def _settled(page: Page) -> None:
    """The conversation is loaded and nothing is being answered: the messages that are shown are all there are."""
    expect(page.get_by_role("region", name="Conversation")).to_be_visible()
    expect(page.get_by_text("Loading the conversation")).to_have_count(0)
    expect(page.get_by_role("button", name="Stop: take the message back")).to_have_count(0)


def all_is_told(page: Page, title: str) -> None:
    """Besides an answer the page asks for the list, the feelings and the notes: now nothing is under way any more."""
    expect(page.get_by_role("navigation").get_by_role("link", name=title)).to_be_visible()
    feeling = page.get_by_role("region", name="The feeling heard")
    chart = feeling.get_by_role("img", name=re.compile("^Feelings over the conversation"))
    expect(chart.or_(feeling.get_by_text("With the next answer, a chart"))).to_be_visible()
    beliefs = page.get_by_role("region", name="What it believes about you")
    known = beliefs.get_by_role("button", name=re.compile("^Edit: "))
    expect(known.or_(beliefs.get_by_text("Nothing so far.")).first).to_be_visible()


def new_conversation(page: Page) -> None:
    """Begin again; the old conversation's messages are gone from the page when this returns."""
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_role("heading", name="I'm all ears.")).to_be_visible()
    expect(messages(page)).to_have_count(0)


def last_reply(page: Page) -> str:
    return reply_shown(page).inner_text()


def yes_to_consent(page: Page) -> None:
    _answer_consent(page, "Yes, remember me")


def no_to_consent(page: Page) -> None:
    _answer_consent(page, "No, thank you")


def _answer_consent(page: Page, answer: str) -> None:
    """The server knows the answer when this returns, and the page has stopped moving the focus."""
    page.get_by_role("button", name=answer).click()
    expect(page.get_by_role("heading", name="May I remember you?")).to_have_count(0)
    expect(composer(page)).to_be_focused()


def use_this_listener(page: Page) -> None:
    """Close the dialog with what was chosen; it gives the focus back when it is gone, and only then can one write."""
    page.get_by_role("button", name="Use this listener").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(listener(page)).to_be_focused()


def conversation_id(page: Page) -> str:
    address = re.compile(r"#/c/([0-9a-f]{16})$")
    page.wait_for_url(address)
    found = address.search(page.url)
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
    expect(button).to_have_attribute("aria-expanded", "true")
    return page.get_by_role("region", name=title, exact=True)
