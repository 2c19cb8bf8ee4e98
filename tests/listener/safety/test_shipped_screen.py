"""The screen that ships, on what people say plainly and on what they say every day."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from allears.listener.safety.bundled_screen import bundled_head
from allears.listener.safety.screen import CrisisScreen
from allears.selection.loading import default_bundle

SCRIPTED = Path(__file__).parents[3] / "docs" / "scripts" / "conversations.toml"


@pytest.fixture(scope="module")
def screen() -> CrisisScreen:
    return CrisisScreen(bundled_head(default_bundle()))


@pytest.mark.parametrize(
    "said",
    [
        "I want to kill myself",
        "i will jump",
        "I took all my tablets an hour ago",
        "my wife took an overdose",
        "my husband hits me",
        "He locked me in the flat again",
        "I cut myself again last night",
        "I have a knife and I am going to stab him",
    ],
)
def test_what_is_said_plainly_is_heard(screen: CrisisScreen, said: str) -> None:
    assert screen.check(said).danger is not None


def test_everyday_trouble_raises_no_alarm(screen: CrisisScreen) -> None:
    said = [line for talk in _lists(tomllib.loads(SCRIPTED.read_text(encoding="utf-8"))) for line in talk]
    assert len(said) >= 80
    assert [line for line in said if screen.check(line).danger is not None] == []


def _lists(table: object) -> list[list[str]]:
    """Every list of sentences in a table, however deep."""
    if isinstance(table, dict):
        return [found for value in table.values() for found in _lists(value)]
    if isinstance(table, list) and table and isinstance(table[0], str):
        return [table]
    return [found for value in table for found in _lists(value)] if isinstance(table, list) else []
