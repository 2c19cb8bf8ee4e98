"""A conversation of 500 messages scrolls and types without lag."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from patience import PATIENCE
from playwright.sync_api import CDPSession, Page, expect
from real_server import RealServer
from resting import rest
from talking_in_browser import composer, messages, say

from allears.conversation import Conversation, Role, Turn
from allears.memory import Memory
from allears.serve.auth import ME

MESSAGES = 500
LONGEST_TASK = 100  # milliseconds
# The place stays the same for ten frames: whatever a wheel set in motion has come to a stop.
STANDS = """(element) => new Promise((done) => {
    const scroller = element.closest("[role=region]");
    let place = scroller.scrollTop, frames = 0;
    const look = () => {
        frames = scroller.scrollTop === place ? frames + 1 : 0;
        place = scroller.scrollTop;
        if (frames === 10) done();
        else requestAnimationFrame(look);
    };
    look();
})"""


@pytest.fixture
def long_conversation(server: RealServer) -> str:
    turns = []
    for number in range(MESSAGES // 2):
        turns += [
            Turn(Role.SEEKER, f"Line {number}: today I walked to the river, and thought of {number} things."),
            Turn(Role.SUPPORTER, f"That sounds like a quiet walk. Which of the {number} stays with you?"),
        ]
    with Memory(str(server.database)) as memory:
        name = memory.start(ME)
        before: Conversation = memory.load(ME, name)
        told = Conversation(name, tuple(turns), before.personas, labels=before.labels)
        memory.append(ME, name, told, after=0)
    return name


class Trace:
    """Chromium's own record of what its main thread did."""

    def __init__(self, page: Page) -> None:
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._events: list[dict[str, Any]] = []
        self._done = False
        self._session.on("Tracing.dataCollected", lambda data: self._events.extend(data["value"]))

    def start(self) -> None:
        self._session.send(
            "Tracing.start", {"categories": "toplevel,devtools.timeline", "transferMode": "ReportEvents"}
        )

    def longest_task(self, page: Page) -> float:
        """Milliseconds of computing of the page's longest task. Not of waiting: other tests may hold the processor."""
        self._session.on("Tracing.tracingComplete", lambda _: setattr(self, "_done", True))
        self._session.send("Tracing.end")
        end = time.monotonic() + PATIENCE / 1000
        while not self._done:
            assert time.monotonic() < end, "Chromium did not hand over its record"
            page.wait_for_timeout(50)
        main = {
            (event["pid"], event["tid"])
            for event in self._events
            if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
        }
        tasks = [
            event["tdur"] / 1000
            for event in self._events
            if (event["pid"], event["tid"]) in main and "RunTask" in event["name"] and "tdur" in event
        ]
        assert len(tasks) > 50, json.dumps(sorted({event["name"] for event in self._events}))
        return max(tasks)


def _open(page: Page, conversation: str) -> None:
    """All of it is there and drawn when this returns, so that what is measured later is not the opening."""
    page.goto(f"/#/c/{conversation}")
    expect(messages(page)).to_have_count(MESSAGES)
    expect(messages(page).last).to_be_in_viewport()
    expect(page.get_by_text("No reasons are stored for this answer.")).to_be_visible()
    rest(page)


def test_typing_in_a_long_conversation_has_no_lag(page: Page, long_conversation: str) -> None:
    _open(page, long_conversation)
    trace = Trace(page)
    trace.start()
    composer(page).press_sequentially("The evening was long, and I wrote this down word by word.", delay=15)
    longest = trace.longest_task(page)
    assert longest < LONGEST_TASK, f"a task took {longest:.0f} ms while typing"


def test_a_long_conversation_opens_at_its_end_scrolls_and_goes_on(page: Page, long_conversation: str) -> None:
    _open(page, long_conversation)
    trace = Trace(page)
    trace.start()
    page.mouse.move(600, 400)
    for _ in range(30):
        page.mouse.wheel(0, -1500)
        page.wait_for_timeout(16)
    longest = trace.longest_task(page)
    assert longest < LONGEST_TASK, f"a task took {longest:.0f} ms while scrolling"
    expect(messages(page).last).not_to_be_in_viewport()
    messages(page).last.evaluate(STANDS)
    page.get_by_role("button", name="To the newest message").click()
    expect(messages(page).last).to_be_in_viewport()
    say(page, "And now?")
    expect(messages(page).last).to_be_in_viewport()
