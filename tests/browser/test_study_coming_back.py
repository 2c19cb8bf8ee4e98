"""Links, leaving, coming back, bad connections, and the ways out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from studies_made_up import CHECKS, RETURNING, rating_study
from taking_part import StudyServer, begin, choose, heading, send, served, submit, visitors


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StudyServer]:
    with served(rating_study(tmp_path / "study", per_unit=9)) as running:
        yield running


def _rate(page: Page) -> None:
    choose(page, "Does the reply show", "2")
    choose(page, "Is the reply easy", "4")
    send(page)


def test_a_rater_who_closes_the_page_and_comes_back_continues(browser: Browser, server: StudyServer) -> None:
    token = server.new_token()
    with visitors(browser, server) as come:
        page = come(f"/study#link={token}")
        begin(page)
        _rate(page)
        expect(heading(page)).to_have_text("Task 2 of 4")
        reply = page.get_by_role("region", name="The listener's reply").inner_text()
        choose(page, "Does the reply show", "5: very much")
        expect(page).not_to_have_url(re.compile(token))  # nobody reads it over a shoulder
        context = page.context
        page.close()

        back = context.new_page()  # without the link: this browser knows who it is
        back.goto("/study")
        expect(heading(back)).to_have_text("Task 2 of 4")
        expect(back.get_by_role("region", name="The listener's reply")).to_have_text(reply.replace("\n", ""))
        expect(back.get_by_role("radio", name="5: very much").first).to_be_checked()
        choose(back, "Is the reply easy", "1: not at all")
        send(back)
        expect(heading(back)).to_have_text("Task 3 of 4")

        elsewhere = come(f"/study#link={token}")  # another browser, the same link
        expect(heading(elsewhere)).to_have_text("Task 3 of 4")
        expect(elsewhere.get_by_text("2 of 4 done")).to_be_visible()


def test_an_answer_is_kept_while_the_server_is_away_and_stored_once(
    browser: Browser, server: StudyServer
) -> None:
    with visitors(browser, server) as come:
        page = come()
        begin(page)
        choose(page, "Does the reply show", "2")
        choose(page, "Is the reply easy", "4")
        server.stop()
        submit(page).click()
        expect(page.get_by_text("The server cannot be reached.")).to_be_visible()
        server.start()
        expect(heading(page)).to_have_text("Task 2 of 4")
        expect(page.get_by_text("The server cannot be reached.")).to_have_count(0)
        with server.opened() as (_, _, store):
            assert [dict(each.answers) for each in store.answered()] == [{"empathy": 2, "fluency": 4}]


def test_an_answer_whose_receipt_was_lost_is_stored_once(browser: Browser, server: StudyServer) -> None:
    with visitors(browser, server) as come:
        page = come()
        begin(page)
        heard: list[int] = []

        def lose_the_receipt(route: Route) -> None:
            if heard:
                route.continue_()
            else:
                heard.append(route.fetch().status)
                route.abort()

        page.route("**/answers", lose_the_receipt)
        _rate(page)
        expect(heading(page)).to_have_text("Task 2 of 4")
        assert heard == [200]
        with server.opened() as (_, _, store):
            assert len(store.answered()) == 1


def test_a_busy_server_is_waited_for(browser: Browser, server: StudyServer) -> None:
    with visitors(browser, server) as come:
        page = come()
        begin(page)
        busy = {"error": "Many people are here; try again."}
        page.route(
            "**/answers", lambda route: route.fulfill(status=503, json=busy, headers={"Retry-After": "2"})
        )
        _rate(page)
        expect(page.get_by_text("Many people take part right now.")).to_be_visible()
        page.unroute("**/answers")
        expect(heading(page)).to_have_text("Task 2 of 4")


def test_two_tabs_of_one_rater_do_not_get_in_each_others_way(browser: Browser, server: StudyServer) -> None:
    with visitors(browser, server) as come:
        page = come()
        begin(page)
        expect(heading(page)).to_have_text("Task 1 of 4")
        tab = page.context.new_page()
        tab.goto("/study")
        expect(heading(tab)).to_have_text("Task 1 of 4")
        _rate(tab)
        expect(heading(tab)).to_have_text("Task 2 of 4")
        choose(page, "Does the reply show", "5")  # the same unit, answered otherwise
        choose(page, "Is the reply easy", "5")
        send(page)
        expect(heading(page)).to_have_text("Task 2 of 4")
        with server.opened() as (_, _, store):
            assert [each.answers["empathy"] for each in store.answered()] == [2]


def test_an_open_link_makes_one_rater_of_one_browser(browser: Browser, server: StudyServer) -> None:
    link = f"/study#open={server.open_token()}"
    with visitors(browser, server) as come:
        page = come(link)
        begin(page)
        expect(heading(page)).to_have_text("Task 1 of 4")
        page.goto("about:blank")
        page.goto(link)
        expect(heading(page)).to_have_text("Task 1 of 4")
        expect(heading(come(link))).to_have_text("Before you begin")  # somebody else
        with server.opened() as (_, _, store):
            assert len(store.people()) == 2


def test_a_person_from_prolific_is_one_rater_in_every_browser(browser: Browser, server: StudyServer) -> None:
    link = f"/study?PROLIFIC_PID=5f00aa11&STUDY_ID=1&SESSION_ID=2#open={server.open_token()}"
    with visitors(browser, server) as come:
        page = come(link)
        begin(page)
        _rate(page)
        expect(heading(page)).to_have_text("Task 2 of 4")
        expect(heading(come(link))).to_have_text("Task 2 of 4")


def test_the_bare_address_leads_to_the_study_which_asks_for_a_link(
    browser: Browser, server: StudyServer
) -> None:
    with visitors(browser, server) as come:
        page = come("/")
        expect(page.get_by_text("Please open the link that you were given.")).to_be_visible()
        expect(page).to_have_url(f"{server.url}/study")
        page = come("/study#link=0123456789abcdef")
        expect(page.get_by_text("This link does not open the study.")).to_be_visible()
        page = come("/study#open=0123456789abcdef")
        expect(page.locator("main strong")).to_be_visible()
        expect(page.get_by_role("button", name="I agree and want to begin")).to_have_count(0)


def test_a_preview_shows_what_the_study_is_and_makes_nobody_a_rater(
    browser: Browser, server: StudyServer
) -> None:
    query = "workerId=W1&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H1"
    with visitors(browser, server) as come:
        page = come(f"/study?{query}#open={server.open_token()}")
        expect(page.get_by_text("This is a preview.")).to_be_visible()
        expect(page.get_by_text("You read short conversations")).to_be_visible()
        with server.opened() as (_, _, store):
            assert store.people() == []


def test_who_declines_is_thanked_and_may_think_again(browser: Browser, server: StudyServer) -> None:
    with visitors(browser, server) as come:
        page = come()
        page.get_by_role("button", name="I do not want to take part").click()
        expect(page.get_by_text("Nothing was stored")).to_be_visible()
        page.get_by_role("button", name="I changed my mind").click()
        expect(heading(page)).to_have_text("What to do")


def test_who_withdraws_is_forgotten(browser: Browser, server: StudyServer) -> None:
    with visitors(browser, server) as come:
        page = come()
        begin(page)
        _rate(page)
        expect(heading(page)).to_have_text("Task 2 of 4")
        page.get_by_role("button", name="Withdraw from the study").click()
        dialog = page.get_by_role("dialog", name="Withdraw from the study?")
        dialog.get_by_role("button", name="Stay in the study").click()
        expect(dialog).to_have_count(0)
        expect(heading(page)).to_have_text("Task 2 of 4")
        page.get_by_role("button", name="Withdraw from the study").click()
        dialog.get_by_role("button", name="Delete everything").click()
        expect(page.get_by_text("You have withdrawn")).to_be_visible()
        with server.opened() as (_, _, store):
            assert store.answered() == []
        page.reload()
        expect(page.get_by_text("You have withdrawn")).to_be_visible()
        expect(page.get_by_role("button", name="Withdraw from the study")).to_have_count(0)


def test_the_first_load_of_the_other_page_has_nothing_of_the_study(server: StudyServer) -> None:
    index = server.response("/study").text
    assert "StudyApp" not in index


def _from_prolific(server: StudyServer, person: str) -> str:
    return f"/study?PROLIFIC_PID={person}&STUDY_ID=1&SESSION_ID=2#open={server.open_token()}"


def _go_through(page: Page, *, reads: bool) -> None:
    """Answer everything that is asked; who reads sees what a check wants."""
    with page.expect_response("**/api/study/begin") as answer:
        begin(page)
    step = answer.value.json()
    shown = "(key) => JSON.parse(localStorage.getItem('allears-study-draft') ?? '{}').key === key"
    while step["stage"] == "unit":
        page.wait_for_function(shown, arg=step["unit"]["key"])
        is_check = page.get_by_text("please choose 1 everywhere").count() == 1
        for group in page.get_by_role("group").all():
            group.locator("label").nth(0 if is_check and reads else 3).click()
        with page.expect_response("**/api/study/next") as answer:
            send(page)
        step = answer.value.json()


@pytest.mark.parametrize(
    ("reads", "says", "code"), [(True, "All done", "C0MPLETE"), (False, "The study ends here", "SCR33NED")]
)
def test_people_from_prolific_are_sent_back_with_the_code_of_how_it_ended(
    browser: Browser, tmp_path: Path, *, reads: bool, says: str, code: str
) -> None:
    study = rating_study(tmp_path / "study", more=CHECKS + RETURNING)
    with served(study) as server, visitors(browser, server) as come:
        page = come(_from_prolific(server, "5f01"))
        _go_through(page, reads=reads)
        expect(heading(page)).to_have_text(says)
        link = page.get_by_role("link", name="Back to where you came from")
        expect(link).to_have_attribute("href", f"https://app.prolific.com/submissions/complete?cc={code}")
        expect(page.locator("code")).to_have_count(0)
