"""A rater can never see which system wrote what: not in the page, its requests, or its ordering."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Response, expect
from studies_made_up import HERON, PREFERENCE, SAID, SCALES, SECRETS, TWO_REPLIES, rating_study
from taking_part import Rater, begin, heading, letter_of, served, visitors

BLOCKS = TWO_REPLIES + SCALES + PREFERENCE


def _answers_to(page: Page) -> list[Response]:
    """From now on, whatever the page is answered (its own files apart)."""
    answers: list[Response] = []

    def on_response(response: Response) -> None:
        if "/assets/" not in response.url:
            answers.append(response)

    page.on("response", on_response)
    return answers


def _over_the_wire(response: Response) -> str:
    request = response.request
    asked = f"{request.url} {request.headers} {request.post_data or ''}"
    return f"{asked} {response.headers}\n{response.text()}"


def _answer_all(page: Page) -> None:
    for group in page.get_by_role("group").all():
        group.locator("label").first.click()
    page.get_by_role("button", name="Send and go on").click()


def test_nothing_names_a_system_in_the_page_or_over_the_wire(browser: Browser, tmp_path: Path) -> None:
    study = rating_study(tmp_path / "study", BLOCKS, items=3)
    with served(study) as server, visitors(browser, server) as come:
        page = come()
        expect(heading(page)).to_have_text("Before you begin")
        answers = _answers_to(page)
        page.reload()
        begin(page)
        seen = []
        for number in range(3):
            expect(heading(page)).to_have_text(f"Task {number + 1} of 3")
            seen.append(page.content())
            seen.append(
                json.dumps(page.evaluate("({...localStorage, ...sessionStorage, title: document.title})"))
            )
            _answer_all(page)
        expect(heading(page)).to_have_text("All done")
        everything = "\n".join([*map(_over_the_wire, answers), *seen])
        for path in ("/study", "/api/study/begin", "/api/study/next"):
            assert any(urlsplit(answer.url).path == path for answer in answers), path
        assert SAID[HERON] in everything  # it was looked at
        for secret in SECRETS:
            assert secret.lower() not in everything.lower(), secret


def test_letters_and_order_tell_nothing_about_who_wrote_what(tmp_path: Path, browser: Browser) -> None:
    """Each system is A for half of the raters of each item, and A is always shown first."""
    study = rating_study(tmp_path / "study", TWO_REPLIES + PREFERENCE, items=2, per_unit=6)
    with served(study) as server, visitors(browser, server) as come:
        letters: dict[str, list[str]] = {}
        keys: list[str] = []
        for _ in range(5):
            rater = Rater(server)
            while rater.step["stage"] == "unit":
                unit = rater.step["unit"]
                replies = next(block["replies"] for block in unit["blocks"] if block["type"] == "replies")
                assert [reply["side"] for reply in replies] == ["A", "B"]
                talk = next(block for block in unit["blocks"] if block["type"] == "conversation")
                item = talk["turns"][-1]["text"]
                side = next(reply["side"] for reply in replies if reply["text"] == SAID[HERON])
                letters.setdefault(item, []).append(side)
                keys.append(unit["key"])
                rater.answer({"better": "tie"})
        page = come()
        begin(page)
        shown = page.get_by_role("article", name=re.compile("^Reply"))
        expect(shown).to_have_count(2)
        assert [article.get_attribute("aria-label") for article in shown.all()] == ["Reply A", "Reply B"]
        item = next(item for item in letters if page.get_by_text(item).count())
        letters[item].append(letter_of(page, SAID[HERON]))
        for sides in letters.values():
            assert abs(sides.count("A") - sides.count("B")) <= 1
        assert len(set(keys)) == len(keys) == 10  # a unit's key says nothing about the unit
