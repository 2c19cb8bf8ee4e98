"""Which of two replies is better, and who is asked when three people have three opinions (MIME)."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from studies_made_up import HERON, KETTLE, PREFERENCE, SAID, TWO_REPLIES, rating_study
from taking_part import Rater, begin, choose, heading, letter_of, send, served, visitors

from allears.study.assignment import majority
from allears.study.export import answer_rows


def _study(folder: Path) -> Path:
    return rating_study(folder, TWO_REPLIES + PREFERENCE, items=1, per_unit=3, fourth="better")


def _prefer(page: Page, choice: str) -> str:
    """Choose a system by what it says, or neither. The letter it had."""
    expect(page.get_by_role("article", name="Reply A")).to_be_visible()
    side = letter_of(page, SAID[choice]) if choice in SAID else ""
    choose(page, "Which reply answers", f"Reply {side}" if side else "Both alike")
    send(page)
    expect(heading(page)).to_have_text("All done")
    return side


def _prefer_without_browser(rater: Rater, choice: str) -> None:
    replies = next(block for block in rater.step["unit"]["blocks"] if block["type"] == "replies")["replies"]
    sides = {reply["text"]: reply["side"] for reply in replies}
    rater.answer({"better": sides[SAID[choice]] if choice in SAID else choice})


def test_three_opinions_of_three_raters_ask_a_fourth_and_nobody_else(
    browser: Browser, tmp_path: Path
) -> None:
    with served(_study(tmp_path / "study")) as server, visitors(browser, server) as come:
        one, other = come(), come()
        for page in (one, other):  # both have it open at once
            begin(page)
            expect(heading(page)).to_have_text("Task 1 of 1")
        _prefer(one, HERON)
        _prefer(other, KETTLE)
        _prefer_without_browser(Rater(server), "tie")

        fourth = come()
        begin(fourth)
        expect(heading(fourth)).to_have_text("Task 1 of 1")
        _prefer(fourth, KETTLE)

        fifth = come()
        begin(fifth)
        expect(heading(fifth)).to_have_text("All done")  # there is nothing left to ask
        with server.opened() as (design, frozen, store):
            values = [row["value"] for row in answer_rows(design, frozen, store.answered())]
        assert values == [HERON, KETTLE, "tie", KETTLE]
        assert majority(values) == KETTLE


@pytest.mark.parametrize("third", [HERON, KETTLE])
def test_a_majority_of_three_asks_nobody_more(browser: Browser, tmp_path: Path, third: str) -> None:
    with served(_study(tmp_path / "study")) as server, visitors(browser, server) as come:
        for choice in (HERON, KETTLE):
            _prefer_without_browser(Rater(server), choice)
        page = come()
        begin(page)
        _prefer(page, third)
        assert Rater(server).step["stage"] == "done"
