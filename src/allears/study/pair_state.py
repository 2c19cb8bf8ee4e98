"""A pair of people as one of them sees it, what they are offered, and whose turn it is. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from allears.study import seeded
from allears.study.blocks import Describe


@dataclass(frozen=True, slots=True)
class PairState:
    """A pair as one of the two sees it. `version` grows whenever it changed."""

    state: str
    version: int = 0
    waited_seconds: int = 0
    talk: int = 0
    role: str = ""
    situation: str | None = None
    emotion: str | None = None
    turns: tuple[tuple[str, str], ...] = ()  # ("you" or "other", text)
    your_turn: bool = False
    may_finish: bool = False
    partner_away: bool = False


def offered_emotions(
    describe: Describe, overall: Mapping[str, int], own: Mapping[str, int], seed: int, rater: str
) -> list[str]:
    """The least used: overall for somebody new, by themselves for somebody who comes again; then by chance."""

    def rank(emotion: str) -> tuple[int, int, int]:
        chance = seeded.number(seed, rater, sum(own.values()), emotion)
        return own.get(emotion, 0), overall.get(emotion, 0), chance

    return sorted(describe.emotions, key=rank)[: describe.offered]


def may_speak(lines: int, is_speaker: bool) -> bool:
    """The speaker begins, and they take turns."""
    return (lines % 2 == 0) == is_speaker
