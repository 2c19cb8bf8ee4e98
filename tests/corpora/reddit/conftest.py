"""Fixtures for the Reddit builder."""

from __future__ import annotations

import pytest

from allears.corpora.reddit import card
from command_line import run  # noqa: F401


@pytest.fixture(autouse=True)
def _a_salt_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may make a secret in the user's own folder."""
    monkeypatch.setenv("ALLEARS_SALT", "a salt for the tests")


@pytest.fixture(autouse=True)
def _no_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take longer than a small build; the test of the card draws them."""
    if "card" not in request.node.name:
        monkeypatch.setattr(card, "save_picture", lambda *_: None)
        monkeypatch.setattr(card, "rules_picture", lambda *_: None)
