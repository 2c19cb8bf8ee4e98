"""Side by side: three personas, several voices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import new_context
from playwright.sync_api import Browser, Page, expect
from real_server import ServerOfVoices
from resting import rest
from talking_in_browser import composer, listener, messages, say, use_this_listener

TOPS = "(column) => [...column.parentElement.children].map((each) => each.getBoundingClientRect().top)"


def test_one_message_three_personas_three_answers(page: Page) -> None:
    page.get_by_role("link", name="Three listeners").click()
    page.get_by_role("button", name="Ask all three").click()
    columns = [page.get_by_role("region", name=name) for name in ("A coach", "A musician", "A gardener")]
    answers = []
    for column in columns:
        expect(column.get_by_text("Runners-up")).to_be_visible()
        answers.append(column.locator("p").first.inner_text())
    assert len(set(answers)) == 3, answers
    rest(page)
    tops: list[float] = columns[0].evaluate(TOPS)
    assert (len(tops), len(set(tops))) == (3, 1), "they stand side by side"

    columns[0].get_by_role("textbox").fill("I am a baker.\nMy day begins at three.")
    with page.expect_response("**/api/compare"):
        page.get_by_role("button", name="Ask all three").click()
    expect(columns[0].get_by_text("Runners-up")).to_be_visible()
    columns[0].get_by_role("button", name="Talk with this listener").click()
    expect(page.get_by_role("button", name="Listener: I am a baker.")).to_be_visible()


def test_voices_answer_the_same_message_side_by_side_and_nothing_is_stored(page: Page) -> None:
    page.get_by_role("link", name="Compare voices").click()
    for _ in range(2):
        page.get_by_role("button", name="Add a voice").click()
    expect(page.get_by_role("button", name="Add a voice")).to_have_count(0)  # four are enough
    page.get_by_role("textbox", name="The message").fill("I got the job, and now I am scared.")
    page.get_by_role("button", name="Ask", exact=True).click()
    for number in range(1, 5):
        column = page.get_by_role("region", name=f"Voice {number}")
        expect(column.get_by_text(" ms")).to_be_visible()
    page.get_by_role("button", name="Remove voice 4").click()
    expect(page.get_by_role("region", name="Voice 4")).to_have_count(0)
    expect(page.get_by_text("What you talk about will be listed here.")).to_be_visible()


def test_a_conversation_can_be_answered_anew(page: Page) -> None:
    say(page, "My flight was cancelled.")
    page.get_by_role("link", name="Compare voices").click()
    page.get_by_role("combobox", name="In which conversation").select_option(label="My flight was cancelled.")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_role("region", name="Voice 1").get_by_text(" ms")).to_be_visible()
    page.get_by_role("link", name="My flight was cancelled.").click()
    expect(messages(page)).to_have_count(2)


@pytest.fixture
def two_voices(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    server = ServerOfVoices(tmp_path)
    server.start()
    context = new_context(browser, server.url, reduced_motion="reduce")
    page = context.new_page()
    page.goto("/#/compare")
    yield page
    context.close()
    server.stop()


def test_alpha_is_a_slider_where_a_voice_takes_it_and_an_answer_follows_it(two_voices: Page) -> None:
    page = two_voices
    first, second = (page.get_by_role("region", name=f"Voice {number}") for number in (1, 2))
    expect(second.get_by_role("slider")).to_be_visible()
    expect(first.get_by_role("slider")).to_have_count(0)  # chosen replies have no α
    page.get_by_role("textbox", name="The message").fill("I got the job, and now I am scared.")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(second.get_by_text("My α was 0.4.")).to_be_visible()
    second.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    expect(second.get_by_text("α = 0.45")).to_be_visible()
    expect(second.get_by_text("My α was 0.45.")).to_be_visible()

    page.get_by_role("textbox", name="The message").fill("Please break the silence.")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(second.get_by_role("alert")).to_contain_text("try again")
    expect(first.get_by_text("Runners-up")).to_be_visible()  # one that fails does not cost the others theirs

    first.get_by_role("combobox", name="Voice 1", exact=True).select_option(label="Leaning voice")
    expect(first.get_by_role("slider")).to_be_visible()


def test_the_chosen_voice_answers(two_voices: Page) -> None:
    page = two_voices
    page.goto("/#/")
    expect(composer(page)).to_be_visible()
    listener(page).click()
    page.get_by_role("radio", name="Leaning voice").check()
    expect(page.get_by_text("This voice does not take a persona.")).to_be_visible()
    use_this_listener(page)
    assert say(page, "Hello.") == "My α was None."
    expect(page.get_by_text("This voice does not take wishes.")).to_be_visible()
