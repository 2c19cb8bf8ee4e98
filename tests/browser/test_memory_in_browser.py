"""Consent, memory, corrections; and that what was forgotten is not used any more."""

from __future__ import annotations

from playwright.sync_api import Page, expect
from real_server import RealServer
from talking_in_browser import (
    last_why,
    listener,
    messages,
    new_conversation,
    no_to_consent,
    say,
    section,
    yes_to_consent,
)

KNOWN = "What do you know about me?"


def test_what_was_remembered_can_be_edited_and_forgotten_and_is_not_used_again(
    page: Page, server: RealServer
) -> None:
    say(page, "I live in Leeds. My sister is called Nora.")
    page.get_by_role("button", name="Yes, remember me").click()
    expect(page.get_by_text("I will remember.")).to_be_visible()
    expect(page.get_by_role("heading", name="May I remember you?")).to_have_count(0)
    say(page, "It rained all day.")

    new_conversation(page)
    say(page, "Hello, I am back.")
    assert "Leeds" in say(page, KNOWN)

    beliefs = section(page, "What it believes about you")
    expect(beliefs.get_by_text("from another conversation").first).to_be_visible()
    beliefs.get_by_role("button", name="Edit: I live in Leeds.").click()
    words = beliefs.get_by_role("textbox", name="In your own words")
    words.fill("I live in Antwerp.")
    words.press("Enter")
    expect(beliefs.get_by_text("I live in Antwerp.")).to_be_visible()
    answer = say(page, KNOWN)
    assert "Antwerp" in answer
    assert "Leeds" not in answer

    beliefs.get_by_role("button", name="Erase: I live in Antwerp.").click()
    expect(page.get_by_text("Forgotten. The next answer does not know it.")).to_be_visible()
    expect(beliefs.get_by_text("Antwerp")).to_have_count(0)
    say(page, "Where would you go on a free day?")
    assert "Antwerp" not in str(last_why(page, server))
    assert "Antwerp" not in say(page, KNOWN)


def test_without_consent_a_new_conversation_knows_nothing(page: Page) -> None:
    say(page, "I live in Leeds.")
    no_to_consent(page)
    new_conversation(page)
    say(page, "Hello.")
    assert "Leeds" not in say(page, KNOWN)
    page.get_by_role("link", name="About you").click()
    expect(page.get_by_role("switch", name="Remember me")).to_be_enabled()
    expect(page.get_by_role("switch", name="Remember me")).not_to_be_checked()


def test_the_question_is_asked_once_and_after_the_first_answer(page: Page) -> None:
    question = page.get_by_role("heading", name="May I remember you?")
    expect(question).to_have_count(0)
    say(page, "Hello.")
    expect(question).to_be_visible()
    no_to_consent(page)
    say(page, "Nice weather.")
    page.reload()
    expect(messages(page)).to_have_count(4)
    expect(listener(page)).to_be_visible()  # so the page knows by now whether it was asked
    expect(question).to_have_count(0)


def test_each_sentence_leads_to_the_turn_it_came_from(page: Page) -> None:
    say(page, "Good evening.")
    say(page, "I have two cats.")
    beliefs = section(page, "What it believes about you")
    beliefs.get_by_role("button", name="Show turn 3, where this was said").click()
    expect(page.locator("#turn-3")).to_be_in_viewport()


def test_everything_about_a_person_is_on_one_page_and_can_be_changed_there(page: Page) -> None:
    say(page, "I have two cats.")
    yes_to_consent(page)
    page.get_by_role("link", name="About you").click()
    noted = page.get_by_role("region", name="What is noted")
    expect(noted.get_by_text("I have two cats.", exact=True)).to_be_visible()
    page.get_by_role("button", name="Add something about you").click()
    sentence = page.get_by_role("textbox", name="A sentence about you")
    sentence.fill("I work at night.")
    sentence.press("Enter")
    expect(page.get_by_text("you wrote this")).to_be_visible()
    page.get_by_role("button", name="Erase: I have two cats.").click()
    expect(noted.get_by_text("I have two cats.", exact=True)).to_have_count(0)
    page.get_by_role("switch", name="Remember me").click()
    expect(page.get_by_text("Each conversation stays on its own.")).to_be_visible()
