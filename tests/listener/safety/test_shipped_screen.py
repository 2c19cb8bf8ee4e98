"""The screen that ships, on what people say plainly and on what they say every day."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from allears.runtime.bundle import default_bundle
from allears.safety.bundled_screen import bundled_head
from allears.safety.screen import CrisisScreen

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
        "I took thirty paracetamol",
        "I've lost the will to carry on",
        "my husband tried to strangle me with a phone cord",
        "I came very close to doing it yesterday",
        "I drank a bottle of antifreeze",
        "I'm scared for my life",
        # words that stand in the table of everyday life, and are none here
        "He kicked me in the stomach again",
        "I don't want it to end like this but I have the pills ready",
        "he told me not to tell anyone what he did to me at night",
        "I prayed and now I'm ready to die tonight",
        "he pushed my daughter down the stairs",
        "my husband broke her arm and he will hit me next",
    ],
)
def test_what_is_said_plainly_is_heard(screen: CrisisScreen, said: str) -> None:
    assert screen.check(said).danger is not None


@pytest.mark.parametrize(
    "said",
    [
        "I gave my notice today. I have no plan.",
        "Please don't tell me to follow my dreams.",
        "I want to shake his hand",
        "I handed in my notice this morning",
        "I can't see a future with him, he doesn't want children and I do",
        "husband took the rope out of the garage to tie the Christmas tree to the roof",
    ],
)
def test_what_only_the_heads_take_for_danger_raises_no_alarm(screen: CrisisScreen, said: str) -> None:
    assert screen.check(said).danger is None


def test_an_everyday_matter_does_not_hide_danger_beside_it(screen: CrisisScreen) -> None:
    assert screen.check("I gave my notice today. I have no plan. I want to die.").danger is not None
    assert screen.check("I gave my notice today and I bought a rope.").danger is not None


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


@pytest.mark.parametrize(
    "said",
    [
        "last day of vacation, I don't want it to end",
        "my kids made me breakfast in bed for my birthday",
        "I trust in God, please pray for me",
        "my insurance won't cover it",
        "I'd hate for her to think I forgot",
        "I put a plant there so it looks nice",
        "a boy pushed my son at kindergarten",
        "he broke his leg and everything is on me now",
    ],
)
def test_everyday_life_is_no_alarm(screen: CrisisScreen, said: str) -> None:
    assert screen.check(said).answer is None
