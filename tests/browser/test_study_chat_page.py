"""Talking with two listeners who have letters for names, then comparing them (PAL)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, Browser, Locator, Page, Route, expect
from studies_made_up import HERON, KETTLE, SAID, chat_study
from taking_part import StudyServer, begin, choose, heading, send, served, submit, visitors

from allears.study.export import answer_rows, chat_rows


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StudyServer]:
    with served(chat_study(tmp_path / "study")) as running:
        yield running


def _chat(page: Page, side: str) -> Locator:
    return page.get_by_role("article", name=f"Listener {side}")


def _tell(page: Page, side: str, text: str) -> str:
    """Say something to a listener and wait for the answer."""
    chat = _chat(page, side)
    lines = chat.locator("li[data-who] p")  # the sign that somebody is writing has no words
    box = chat.get_by_role("textbox", name=f"Your line to Listener {side}")
    expect(box).to_be_editable()
    before = lines.count()
    box.fill(text)
    box.press("Enter")
    expect(lines).to_have_count(before + 2)
    return lines.last.inner_text()


def test_two_raters_talk_with_both_listeners_and_compare_them(browser: Browser, server: StudyServer) -> None:
    with visitors(browser, server) as come:
        said: list[dict[str, str]] = []
        for choice in (HERON, KETTLE):
            page = come()
            begin(page)
            expect(page.get_by_role("region", name="Your situation")).to_contain_text("another town")
            expect(page.get_by_text("4 more lines from you, then you can send.")).to_be_visible()
            first = {side: _tell(page, side, "I do not know what to do.") for side in "AB"}
            assert sorted(first.values()) == sorted(SAID.values())
            for side in "AB":
                assert (
                    _tell(page, side, "Should I go?") == first[side]
                )  # who stands under a letter stays there
            side = next(side for side in "AB" if first[side] == SAID[choice])
            choose(page, "All in all", f"Listener {side}")
            send(page)
            expect(heading(page)).to_have_text("All done")
            said.append(first)
        assert said[0]["A"] != said[1]["A"]  # the sides change from one rater to the next
        with server.opened() as (design, frozen, store):
            values = [row["value"] for row in answer_rows(design, frozen, store.answered())]
            talks = chat_rows(design, store)
        assert values == [HERON, KETTLE]
        assert len(talks) == 4


def test_a_conversation_ends_where_it_is_long_enough(browser: Browser, server: StudyServer) -> None:
    with visitors(browser, server) as come:
        page = come()
        begin(page)
        for text in ("I am torn.", "It is far away.", "But the work is good."):
            _tell(page, "A", text)
        expect(_chat(page, "A")).to_contain_text("this conversation is complete")
        expect(_chat(page, "A").get_by_role("textbox")).to_be_disabled()
        choose(page, "All in all", "Both alike")
        expect(submit(page)).to_be_disabled()  # the other listener was not heard


def test_who_reloads_in_the_middle_of_a_conversation_goes_on_there(
    browser: Browser, server: StudyServer
) -> None:
    with visitors(browser, server) as come:
        page = come()
        begin(page)
        reply = _tell(page, "B", "I do not know what to do.")
        page.get_by_role("textbox", name="Your line to Listener A").fill("Half a thou")
        choose(page, "All in all", "Listener B")
        page.reload()
        expect(_chat(page, "B").locator("li[data-who] p")).to_have_text(["I do not know what to do.", reply])
        expect(page.get_by_role("textbox", name="Your line to Listener A")).to_have_value("Half a thou")
        expect(page.get_by_role("radio", name="Listener B")).to_be_checked()
        _tell(page, "B", "Should I go?")


def test_danger_is_answered_with_people_who_help(browser: Browser, server: StudyServer) -> None:
    with visitors(browser, server) as come:
        page = come()
        begin(page)
        _tell(page, "A", "I don't want to live any more.")
        card = _chat(page, "A").get_by_role("region", name="People who can help now")
        expect(card).to_contain_text("the study can wait")
        card.get_by_label("Country").select_option(label="United Kingdom")
        expect(card.get_by_role("link", name="Call 999")).to_be_visible()


def test_a_line_is_sent_again_until_it_is_answered_and_only_once(
    browser: Browser, server: StudyServer
) -> None:
    with visitors(browser, server) as come:
        page = come()
        begin(page)
        lost: list[APIResponse] = []

        def lose_the_answer(route: Route) -> None:
            if len(lost) < 2:
                lost.append(route.fetch())  # the server heard it, but its answer never arrives
                route.abort()
            else:
                route.continue_()

        page.route("**/chat", lose_the_answer)
        _tell(page, "A", "Can you hear me?")
        assert len(lost) == 2
        page.reload()
        expect(_chat(page, "A").locator("li[data-who] p")).to_have_count(2)
