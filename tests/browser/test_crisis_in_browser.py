"""Somebody may be in danger: people come first, and stay until it is calm again."""

from __future__ import annotations

from playwright.sync_api import Page, expect
from talking_in_browser import composer, say

DANGER = "I don't want to live any more."


def test_help_lines_of_the_country_come_first_and_go_when_somebody_is_safe(page: Page) -> None:
    reply = say(page, DANGER)
    assert "I'm a program" in reply
    assert "- Samaritans" not in reply, "the lines belong into the card"
    people = page.get_by_role("region", name="People who can help now")
    expect(people.get_by_role("link", name="Call 999")).to_have_attribute("href", "tel:999")
    expect(people.get_by_role("link", name="Call 116 123: Samaritans")).to_have_attribute(
        "href", "tel:116123"
    )
    expect(page.get_by_role("heading", name="May I remember you?")).to_have_count(0)
    expect(page.get_by_role("button", name="Another answer")).to_have_count(0)

    people.get_by_role("combobox", name="Country").select_option(label="United States")
    expect(people.get_by_role("link", name="Call 988: 988 Suicide & Crisis Lifeline")).to_be_visible()
    expect(people.get_by_role("link", name="Call 911")).to_be_visible()

    say(page, "No, I'm safe. It was a line from a film, I promise.")
    expect(people).to_have_count(0)


def test_the_words_are_seen_before_the_card(page: Page) -> None:
    say(page, DANGER)
    expect(page.get_by_text("I'm glad you told me.").first).to_be_in_viewport()
    expect(page.get_by_role("link", name="Call 999")).to_be_in_viewport()


def test_a_crisis_is_still_one_after_a_reload(page: Page) -> None:
    say(page, DANGER)
    page.reload()
    expect(page.get_by_role("region", name="People who can help now")).to_be_visible()
    expect(composer(page)).to_be_visible()


def test_the_reasons_say_that_it_was_a_fixed_text(page: Page) -> None:
    say(page, DANGER)
    expect(page.get_by_text("This was a fixed text.")).to_be_visible()


def test_help_lines_are_one_step_away_from_everywhere(page: Page) -> None:
    page.get_by_role("main").get_by_role("link", name="Help lines").click()
    expect(page.get_by_role("heading", name="People who can help")).to_be_visible()
    expect(page.get_by_role("link", name="Call 116 123: Samaritans")).to_be_visible()
    page.get_by_role("combobox", name="Country").select_option(label="Anywhere else")
    expect(page.get_by_text("findahelpline.com").first).to_be_visible()
