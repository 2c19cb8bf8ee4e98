"""Two people, paired live: each once as the speaker and once as the listener (ED, section 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from studies_made_up import collecting_study
from taking_part import StudyServer, begin, heading, served, visitors

from allears.study.pairing import Pairing

ONE = "My brother came back after three years at sea and I cried."
OTHER = "Somebody took my bicycle while I was buying bread for us."


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StudyServer]:
    with served(collecting_study(tmp_path / "study")) as running:
        yield running


def _describe(page: Page, text: str) -> str:
    """Choose the first feeling that is offered and describe a situation. The feeling."""
    begin(page)
    feelings = page.get_by_role("group", name="Choose a feeling").locator("label")
    expect(feelings).to_have_count(3)
    feelings.first.click()
    page.get_by_role("textbox", name="Your situation").fill(text)
    feeling = feelings.first.inner_text()
    page.get_by_role("button", name="Find me a partner").click()
    return feeling


def _lines(page: Page) -> Locator:
    return page.get_by_role("log").locator("li[data-who] p")


def _tell(page: Page, text: str) -> None:
    expect(page.get_by_text("It is your turn.")).to_be_visible()
    page.get_by_role("textbox", name="Your line").fill(text)
    page.get_by_role("textbox", name="Your line").press("Enter")


def _speaker(one: Page, other: Page) -> tuple[Page, Page]:
    """The speaker first."""
    for page in (one, other):
        expect(heading(page)).to_have_text(ROLE)
    return (one, other) if heading(one).inner_text() == "You are the speaker" else (other, one)


ROLE = re.compile("You are the (speaker|listener)")


def _talk(speaker: Page, listener: Page, about: str) -> None:
    """Four lines, each seen by the other one at once."""
    for number, page in enumerate((speaker, listener, speaker, listener)):
        other = listener if page is speaker else speaker
        text = f"{about} line {number + 1}."
        _tell(page, text)
        expect(_lines(other)).to_have_count(number + 1)
        expect(_lines(other).last).to_have_text(text)


def test_two_people_tell_each_other_what_happened_and_listen(browser: Browser, server: StudyServer) -> None:
    with visitors(browser, server) as come:
        one, other = come(), come()
        situations = {one: ONE, other: OTHER}
        feelings = {one: _describe(one, ONE)}
        expect(heading(one)).to_have_text("Looking for somebody to talk with you")
        feelings[other] = _describe(other, OTHER)

        speaker, listener = _speaker(one, other)
        for talk in (1, 2):
            expect(heading(speaker)).to_have_text("You are the speaker")
            expect(heading(listener)).to_have_text("You are the listener")
            expect(speaker.get_by_text(f"Conversation {talk} of 2")).to_be_visible()
            expect(speaker.get_by_text(situations[speaker])).to_be_visible()
            expect(speaker.get_by_text(f"You felt {feelings[speaker]}")).to_be_visible()
            for text in (ONE, OTHER):  # neither sees what the other one wrote beforehand
                expect(listener.get_by_text(text)).to_have_count(0)
            expect(speaker.get_by_role("button", name="End this conversation")).to_be_disabled()
            _talk(speaker, listener, f"Talk {talk},")
            listener.get_by_role("button", name="End this conversation").click()
            speaker, listener = listener, speaker
        for page in (one, other):
            expect(heading(page)).to_have_text("All done")
        with server.opened() as (_, _, store):
            kept = Pairing(store).conversations()
        assert {talk.situation for talk in kept} == {ONE, OTHER}
        assert [len(talk.turns) for talk in kept] == [4, 4]


def test_where_streams_do_not_come_through_the_page_asks(browser: Browser, server: StudyServer) -> None:
    with visitors(browser, server) as come:
        one, other = come(), come()
        for page in (one, other):
            page.route("**/pair/stream", lambda route: route.abort())
        _describe(one, ONE)
        _describe(other, OTHER)
        speaker, listener = _speaker(one, other)
        _talk(speaker, listener, "Asked for,")
        speaker.get_by_role("button", name="End this conversation").click()
        expect(heading(listener)).to_have_text("You are the speaker")


def test_who_closes_the_page_and_comes_back_is_still_in_the_conversation(
    browser: Browser, server: StudyServer
) -> None:
    with visitors(browser, server) as come:
        one, other = come(), come()
        _describe(one, ONE)
        _describe(other, OTHER)
        speaker, listener = _speaker(one, other)
        _tell(speaker, "It was on a Sunday.")
        context = listener.context
        listener.close()
        back = context.new_page()
        back.goto("/study")
        expect(_lines(back)).to_have_text(["It was on a Sunday."])
        _tell(back, "Tell me more.")
        expect(_lines(speaker)).to_have_count(2)


def test_who_is_left_alone_gets_another_partner(browser: Browser, server: StudyServer) -> None:
    with visitors(browser, server) as come:
        one, other = come(), come()
        _describe(one, ONE)
        _describe(other, OTHER)
        _speaker(one, other)
        other.get_by_role("button", name="Leave this conversation").click()
        other.get_by_role("dialog").get_by_role("button", name="Leave this conversation").click()
        expect(
            one.get_by_text("Your partner left.")
        ).to_be_visible()  # first, since it does not stay for long
        expect(heading(other)).to_have_text("Something that happened to you")
        expect(heading(one)).to_have_text("Looking for somebody to talk with you")
        third = come()
        _describe(third, "I found my old school bag in the attic yesterday.")
        _speaker(one, third)


def test_danger_in_a_conversation_is_told_to_the_one_who_wrote_only(
    browser: Browser, server: StudyServer
) -> None:
    with visitors(browser, server) as come:
        one, other = come(), come()
        _describe(one, ONE)
        _describe(other, OTHER)
        speaker, listener = _speaker(one, other)
        _tell(speaker, "I don't want to live any more.")
        expect(speaker.get_by_role("region", name="People who can help now")).to_be_visible()
        expect(_lines(listener)).to_have_count(1)
        expect(listener.get_by_role("region", name="People who can help now")).to_have_count(0)
        _tell(listener, "I am here. What happened?")
        expect(_lines(speaker)).to_have_count(2)
        expect(speaker.get_by_role("region", name="People who can help now")).to_be_visible()
