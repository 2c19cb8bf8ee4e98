"""A page at rest: nothing is still loading, nothing moves. Only then can be measured how it looks."""

from __future__ import annotations

from playwright.sync_api import Page

# What never ends (a sign that somebody is writing) is no reason to wait.
AT_REST = """() =>
    !document.querySelector(".mantine-Skeleton-root")
    && document.fonts.status === "loaded"
    && document.getAnimations().every((each) =>
        each.playState !== "running" || each.effect.getComputedTiming().endTime === Infinity)"""
# After two frames and a pause, whatever had to be drawn was drawn.
DRAWN = """() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(() => done(), {timeout: 10_000}))))"""


def rest(page: Page) -> None:
    """Wait until the page has come to rest."""
    page.wait_for_function(AT_REST)
    page.evaluate(DRAWN)
