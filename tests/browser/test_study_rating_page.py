"""Two people rate replies in two browsers."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from playwright.sync_api import Browser, Page, expect
from studies_made_up import HERON, KETTLE, SAID, judging_study, rating_study
from taking_part import begin, choose, heading, send, served, submit, visitors

from allears.study.export import answer_rows


def _rate(page: Page, empathy: dict[str, int]) -> None:
    """One unit; how many points a reply gets depends on what it says."""
    name = next(name for name, text in SAID.items() if page.get_by_text(text).count())
    choose(page, "Does the reply show", str(empathy[name]))
    choose(page, "Is the reply easy", "4")
    send(page)


def test_two_raters_in_two_browsers_finish_a_rating_study(browser: Browser, tmp_path: Path) -> None:
    with served(rating_study(tmp_path / "study")) as server, visitors(browser, server) as come:
        one, other = come(), come()
        for page in (one, other):
            expect(heading(page)).to_have_text("Before you begin")
            begin(page)
        for number in range(4):
            for page, points in ((one, {HERON: 5, KETTLE: 2}), (other, {HERON: 4, KETTLE: 1})):
                expect(heading(page)).to_have_text(f"Task {number + 1} of 4")
                _rate(page, points)
        codes = set()
        for page in (one, other):
            expect(heading(page)).to_have_text("All done")
            codes.add(page.locator("code").inner_text())
        assert len(codes) == 2
        with server.opened() as (design, frozen, store):
            assert (store.count().counted, store.count().wanted) == (8, 8)
            rows = answer_rows(design, frozen, store.answered())
        assert Counter((row["system"], row["value"]) for row in rows if row["question"] == "empathy") == {
            (HERON, 5): 2,
            (HERON, 4): 2,
            (KETTLE, 2): 2,
            (KETTLE, 1): 2,
        }
        assert all(re.fullmatch(r"[0-9A-Z]{4}-[0-9A-Z]{4}", code) for code in codes)


def _answer_one_by_one(page: Page) -> None:
    begin(page)
    expect(page.get_by_text("2 questions are still open.")).to_be_visible()
    expect(submit(page)).to_be_disabled()
    choose(page, "Does the reply show", "3: somewhat")
    expect(page.get_by_text("1 question is still open.")).to_be_visible()
    expect(submit(page)).to_be_disabled()
    choose(page, "Is the reply easy", "5: very much")


def test_nothing_is_sent_before_everything_is_answered_and_some_time_has_passed(
    browser: Browser, tmp_path: Path
) -> None:
    """Ten minutes that no test waits for, and two seconds that pass: a slow machine may take its time with both."""
    long, short = (rating_study(tmp_path / str(least), least_seconds=least) for least in (600, 2))
    with served(long) as server, visitors(browser, server) as come:
        page = come()
        _answer_one_by_one(page)
        expect(page.get_by_text("Please take a moment to read.")).to_be_visible()
        expect(submit(page)).to_be_disabled()
    with served(short) as server, visitors(browser, server) as come:
        page = come()
        _answer_one_by_one(page)
        expect(page.get_by_text("Everything is answered.")).to_be_visible()
        send(page)
        expect(heading(page)).to_have_text("Task 2 of 4")


def test_every_other_kind_of_block_can_be_read_and_answered(browser: Browser, tmp_path: Path) -> None:
    with (
        served(judging_study(tmp_path / "study", per_unit=1)) as server,
        visitors(browser, server) as come,
    ):
        page = come()
        begin(page)
        expect(page.get_by_role("region", name="Before you read")).to_contain_text("Nobody here is real.")
        expect(page.get_by_role("region", name="The situation")).to_contain_text("work in another town")
        noted = page.get_by_role("region", name="What was noted about the speaker")
        expect(noted.get_by_role("listitem")).to_have_count(2)
        choose(page, "What do you make", "Something else")
        expect(submit(page)).to_be_disabled()  # it asks why
        page.get_by_role("textbox", name="Please say why").fill("They are true but beside the point.")
        expect(submit(page)).to_be_enabled()
        comment = page.get_by_role("textbox", name="Is there anything you want to tell us?")
        comment.fill("word " * 31)
        expect(submit(page)).to_be_disabled()
        comment.fill("A kind study, <b>truly</b>.")
        send(page)
        expect(heading(page)).to_have_text("All done")
        with server.opened() as (_, _, store):
            (stored,) = store.answered()
        assert dict(stored.answers) == {
            "judgement": "other",
            "judgement.reason": "They are true but beside the point.",
            "comment": "A kind study, <b>truly</b>.",
        }
