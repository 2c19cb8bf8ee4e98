"""From the first look at the page to a conversation one keeps."""

from __future__ import annotations

import re
from typing import Any

import pytest
from chromium import new_context
from playwright.sync_api import Browser, Page, expect
from real_server import RealServer
from talking_in_browser import (
    come_in,
    composer,
    last_reply,
    last_why,
    listener,
    messages,
    new_conversation,
    no_to_consent,
    reply_shown,
    say,
    section,
    use_this_listener,
)
from watching import watch


def test_somebody_who_comes_for_the_first_time_is_answered(page: Page) -> None:
    expect(page.get_by_role("heading", name="I'm all ears.")).to_be_visible()
    expect(page.get_by_text("No therapist, no crisis line. Nothing leaves this machine.")).to_be_visible()
    reply = say(page, "My sister is moving away next month.")
    assert len(reply.split()) > 2
    expect(composer(page)).to_have_value("")
    expect(page).to_have_url(re.compile("#/c/[0-9a-f]{16}$"))
    expect(page.get_by_role("link", name="My sister is moving away next month.")).to_be_visible()


def test_after_a_reload_everything_is_still_there(page: Page) -> None:
    reply = say(page, "I planted tomatoes today.")
    page.reload()
    expect(messages(page)).to_have_count(2)
    expect(reply_shown(page)).to_have_text(reply)


def test_a_starter_begins_the_conversation(page: Page) -> None:
    page.get_by_role("button", name="I had a long day.").click()
    expect(messages(page)).to_have_count(2)


def test_a_reply_comes_word_by_word_after_a_sign_that_it_is_coming(
    browser: Browser, server: RealServer
) -> None:
    context = new_context(browser, server.url, viewport={"width": 1360, "height": 860})
    watched = watch(context, server.url)
    page = context.new_page()
    come_in(page)
    page.evaluate(
        """() => {
        window.seen = [];
        new MutationObserver(() => {
            if (document.querySelector('[aria-label="allears is thinking"]')) seen.push("…");
            const speaking = document.querySelector('main [aria-hidden="true"] > p');
            if (speaking) seen.push(speaking.textContent);
        }).observe(document.body, {subtree: true, childList: true, characterData: true});
    }"""
    )
    reply = say(page, "I keep thinking about something.")
    seen: list[str] = page.evaluate("seen")
    assert seen[0] == "…"
    steps = sorted({text for text in seen if text != "…"}, key=len)
    assert len(steps) >= 3, "not word by word"
    assert all(reply.startswith(step.strip()) for step in steps)
    assert not watched.crashes
    context.close()


def test_a_message_can_be_edited_and_what_came_after_it_gives_way(page: Page) -> None:
    say(page, "I lost my keys on Monday.")
    say(page, "And then it rained.")
    page.get_by_role("button", name="Edit your message").first.click()
    editor = page.get_by_role("textbox", name="Edit your message")
    expect(editor).to_be_focused()
    editor.fill("I lost my keys on Tuesday.")
    page.get_by_role("button", name="Send again").click()
    expect(messages(page)).to_have_count(2)
    expect(messages(page).first).to_contain_text("Tuesday")


def test_the_last_message_can_be_taken_back(page: Page) -> None:
    say(page, "One thing first.")
    say(page, "Forget what I am about to say.")
    page.get_by_role("button", name="Undo: take back").click()
    expect(messages(page)).to_have_count(2)
    expect(composer(page)).to_have_value("Forget what I am about to say.")


def test_stopping_takes_the_message_back_and_returns_the_words(page: Page) -> None:
    say(page, "Hello.")
    page.route("**/messages/stream", lambda route: None)  # the answer takes for ever
    composer(page).fill("Wait, not that.")
    composer(page).press("Enter")
    page.get_by_role("button", name="Stop: take the message back").click()
    expect(composer(page)).to_have_value("Wait, not that.")
    expect(messages(page)).to_have_count(2)
    page.unroute("**/messages/stream")
    page.reload()
    expect(messages(page)).to_have_count(2)


def test_another_answer_and_another_strategy_can_be_asked_for(page: Page) -> None:
    first = say(page, "I feel so alone in this town.")
    tries = section(page, "What the answer tries")
    tries.get_by_role("button", name="Answer this way: Suggest something").click()
    expect(page.get_by_text("You asked for this kind of answer.")).to_be_visible()
    expect(tries.get_by_text("Suggest something.")).to_be_visible()
    expect(messages(page)).to_have_count(2)
    expect(reply_shown(page)).not_to_have_text(first)
    second = last_reply(page)
    page.get_by_role("button", name="Another answer").click()
    expect(reply_shown(page)).not_to_have_text(second)
    expect(messages(page)).to_have_count(2)


def test_several_conversations_are_kept_renamed_and_found(page: Page) -> None:
    say(page, "My bicycle was stolen.")
    new_conversation(page)
    say(page, "I baked bread.")

    page.get_by_role("button", name="What to do with “I baked bread.”").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("textbox", name="Title").fill("Flour everywhere")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="Flour everywhere")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Flour everywhere")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="What to do with “Flour everywhere”")).to_be_focused()

    search = page.get_by_role("searchbox", name="Search in your conversations")
    search.fill("BICYCLE")
    expect(page.get_by_text("1 conversation found")).to_be_visible()
    expect(page.get_by_role("link", name="Flour everywhere")).to_have_count(0)
    page.get_by_role("link", name="My bicycle was stolen.").click()
    expect(messages(page).first).to_contain_text("bicycle")
    search.fill("zebra")
    expect(page.get_by_text("Nothing found for “zebra”.")).to_be_visible()


def test_the_listener_takes_a_persona(page: Page, server: RealServer) -> None:
    listener(page).click()
    page.get_by_role("button", name="A gardener").click()
    use_this_listener(page)
    expect(page.get_by_role("button", name="Listener: A gardener")).to_be_visible()
    say(page, "I am tired of waiting for an answer from my doctor.")
    assert "I am patient." in [used["text"] for used in last_why(page, server)["listener_persona"]]
    page.reload()
    expect(page.get_by_role("button", name="Listener: A gardener")).to_be_visible()


def test_what_is_behind_a_reply_is_shown(page: Page) -> None:
    say(page, "My dog died on Monday and the flat is empty.")
    say(page, "She was fourteen.")
    no_to_consent(page)
    feeling = section(page, "The feeling heard")
    expect(feeling.get_by_role("img", name=re.compile("^Feelings over the conversation"))).to_be_visible()
    feeling.get_by_role("button", name="All 32 emotions").click()
    expect(feeling.get_by_role("listitem")).to_have_count(32)
    matched = section(page, "Words that matched")
    expect(matched.get_by_text("The answer", exact=True)).to_be_visible()
    expect(matched.locator("[data-level]:not([data-level='0'])").first).to_be_visible()
    candidates = section(page, "What else it could have said")
    expect(candidates.get_by_text("said", exact=True)).to_be_visible()
    expect(section(page, "Time per step").get_by_text("ms in all")).to_be_visible()
    expect(section(page, "Safety check").get_by_text("nothing was found")).to_be_visible()
    page.get_by_role("button", name="Hide why").first.click()
    expect(page.get_by_role("complementary")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_as_light_as_the_device_and_as_somebody_wishes(
    browser: Browser, server: RealServer, scheme: Any
) -> None:
    context = new_context(browser, server.url, color_scheme=scheme)
    page = context.new_page()
    page.goto("/")
    html = page.locator("html")
    expect(html).to_have_attribute("data-mantine-color-scheme", scheme)
    page.get_by_role("button", name="Colours: as my device").click()
    page.get_by_role("button", name="Colours: light").click()
    expect(html).to_have_attribute("data-mantine-color-scheme", "dark")
    page.reload()
    expect(html).to_have_attribute("data-mantine-color-scheme", "dark")
    context.close()
