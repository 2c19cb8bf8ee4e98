"""The views of a study for `screenshots.py`, on real study servers with made-up studies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from chromium import new_context
from playwright.sync_api import Page, expect
from studies_made_up import (
    ONE_REPLY,
    PREFERENCE,
    SCALES,
    TWO_REPLIES,
    chat_study,
    collecting_study,
    judging_study,
    rating_study,
)
from taking_part import StudyServer, begin, choose, heading, send, served

Draw = Callable[[str, str, Callable[[Page], None]], None]
View = Callable[[Page, StudyServer], None]
MORE = (
    "What would you miss most if you went?\nIt sounds as if two good things pull at you at once.\n",
    "Make a list of what speaks for it and what against it.\nJune is still some weeks away.\n",
)


def draw_study_views(place: Path, only: str, draw: Draw) -> None:
    """All views whose name contains `only`; a server is started for those that are needed."""
    for number, (make, views) in enumerate(STUDIES):
        wanted = {name: view for name, view in views.items() if only in name}
        if not wanted:
            continue
        with served(make(place / f"study-{number}")) as server:
            for name, view in wanted.items():
                draw(name, server.url, _on(server, view))


def _on(server: StudyServer, view: View) -> Callable[[Page], None]:
    def shown(page: Page) -> None:
        page.goto(f"/study#link={server.new_token()}")
        view(page, server)

    return shown


def _consent(page: Page, _: StudyServer) -> None:
    expect(heading(page)).to_have_text("Before you begin")


def _instructions(page: Page, _: StudyServer) -> None:
    page.get_by_role("button", name="I agree and want to begin").click()
    expect(heading(page)).to_have_text("What to do")


def _rating(page: Page, _: StudyServer) -> None:
    begin(page)
    choose(page, "Does the reply show", "4")


def _rate(page: Page) -> None:
    choose(page, "Does the reply show", "4")
    choose(page, "Is the reply easy", "5: very much")
    send(page)


def _done(page: Page, _: StudyServer) -> None:
    begin(page)
    for number in range(4):
        expect(heading(page)).to_have_text(f"Task {number + 1} of 4")
        _rate(page)
    expect(heading(page)).to_have_text("All done")


def _withdraw(page: Page, _: StudyServer) -> None:
    begin(page)
    page.get_by_role("button", name="Withdraw from the study").click()


def _away(page: Page, _: StudyServer) -> None:
    begin(page)
    page.route("**/answers", lambda route: route.abort())
    _rate(page)
    page.get_by_text("The server cannot be reached.").wait_for()


def _preference(page: Page, _: StudyServer) -> None:
    begin(page)
    choose(page, "Which reply answers", "Reply B")


def _persona(page: Page, _: StudyServer) -> None:
    begin(page)
    choose(page, "What do you make", "Something else")
    page.get_by_role("textbox", name="Please say why").fill("The second one is true, but beside the point.")


def _chat(page: Page, _: StudyServer) -> None:
    begin(page)
    for side, text in (("A", "I do not know what to do."), ("B", "They offered me work, but far away.")):
        page.get_by_role("textbox", name=f"Your line to Listener {side}").fill(text)
        page.get_by_role("button", name=f"Send to Listener {side}").click()
        article = page.get_by_role("article", name=f"Listener {side}")
        expect(article.locator("li[data-who] p")).to_have_count(2)


def _describe(page: Page, _: StudyServer) -> None:
    begin(page)
    page.get_by_role("group").locator("label").nth(1).click()
    page.get_by_role("textbox").fill(
        "My brother came back after three years at sea. I had not slept all week."
    )


def _find_partner(page: Page, server: StudyServer) -> None:
    _describe(page, server)
    page.get_by_role("button", name="Find me a partner").click()


def _waiting(page: Page, server: StudyServer) -> None:
    _find_partner(page, server)
    page.get_by_text("Looking for somebody").wait_for()


def _pair(page: Page, server: StudyServer) -> None:
    """Somebody in a second browser is the partner."""
    _waiting(page, server)
    browser = page.context.browser
    assert browser is not None
    context = new_context(browser, server.url)
    partner = context.new_page()
    partner.goto(f"/study#link={server.new_token()}")
    _find_partner(partner, server)
    for one in (page, partner):
        one.get_by_role("textbox", name="Your line").wait_for()
    first, second = (
        (page, partner) if heading(page).inner_text() == "You are the speaker" else (partner, page)
    )
    lines = ((first, "He just stood at the door, with a beard!"), (second, "Oh! Did you know him at once?"))
    for one, text in lines:
        one.get_by_text("It is your turn.").wait_for()
        one.get_by_role("textbox", name="Your line").fill(text)
        one.get_by_role("textbox", name="Your line").press("Enter")
    expect(page.get_by_role("log").locator("li[data-who] p")).to_have_count(2)
    if page is second:  # so that all pictures show the speaker's side or the listener's with a turn to take
        first.get_by_text(lines[1][1]).wait_for()
        first.get_by_role("textbox", name="Your line").fill("Not at once. Then he laughed.")
        first.get_by_role("textbox", name="Your line").press("Enter")
        expect(page.get_by_role("log").locator("li[data-who] p")).to_have_count(3)
    page.wait_for_timeout(500)
    context.close()


def _ratings(folder: Path) -> Path:
    return rating_study(folder, ONE_REPLY + SCALES, per_unit=40)


def _preferences(folder: Path) -> Path:
    return rating_study(folder, TWO_REPLIES + PREFERENCE, per_unit=40)


def _judgements(folder: Path) -> Path:
    return judging_study(folder, per_unit=40)


def _chats(folder: Path) -> Path:
    return chat_study(folder, MORE, per_unit=40)


def _lonely(folder: Path) -> Path:
    """Whoever waited in one picture is forgotten in the next."""
    return collecting_study(folder, away_after=1)


STUDIES: tuple[tuple[Callable[[Path], Path], dict[str, View]], ...] = (
    (
        _ratings,
        {
            "study-consent": _consent,
            "study-instructions": _instructions,
            "study-rating": _rating,
            "study-away": _away,
            "study-withdraw": _withdraw,
            "study-done": _done,
        },
    ),
    (_preferences, {"study-preference": _preference}),
    (_judgements, {"study-judgement": _persona}),
    (_chats, {"study-chat": _chat}),
    (collecting_study, {"study-describe": _describe, "study-pair": _pair}),
    (_lonely, {"study-waiting": _waiting}),
)
