"""A reader of danger that a test makes up, and screens that need no bundle."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from allears.safety.dangers import ALL_CLEAR, HEAD, LABELS, WHOSE
from allears.safety.screen import CrisisScreen
from allears.safety.thresholds import Thresholds
from allears.text.reading import Reading

THRESHOLDS = Thresholds(clear=0.6, doubt=0.5, part_clear=0.8, part_doubt=0.7, outright=0.2, all_clear=0.5)


class Sees:
    """Sees danger by single words of the last turn; the rest of each row is "none".

    Args:
        shares: What a word shows: `{"rope": {"suicide": 0.9}}`. The first that is found counts.
        another: Words that say it is about somebody else.
        calming: Words of an all-clear.
        longest: How many words of a turn it reads, as a real one reads no more than so many tokens.
    """

    def __init__(
        self,
        shares: Mapping[str, Mapping[str, float]] | None = None,
        *,
        another: Collection[str] = (),
        calming: Collection[str] = (),
        longest: int = 10_000,
    ):
        self.shares, self.another, self.calming, self.longest = shares or {}, another, calming, longest
        self.asked: list[Sequence[Reading]] = []  # the batch of each call

    def answers(self, readings: Sequence[Reading]) -> dict[str, npt.NDArray[np.float64]]:
        self.asked.append(readings)
        danger = np.zeros((len(readings), len(LABELS)))
        whose, all_clear = (np.tile([1.0, 0.0], (len(readings), 1)) for _ in range(2))
        for row, reading in enumerate(readings):
            words = " ".join(reading.turns[-1].text.lower().split()[: self.longest])
            found: Mapping[str, float] = next(
                (share for word, share in self.shares.items() if word in words), {}
            )
            for label, share in found.items():
                danger[row, LABELS.index(label)] = share
            danger[row, 0] = 1 - danger[row].sum()
            if any(word in words for word in self.another):
                whose[row] = 0.1, 0.9
            if any(word in words for word in self.calming):
                all_clear[row] = 0.2, 0.8
        return {HEAD: danger, WHOSE: whose, ALL_CLEAR: all_clear}


class Broken:
    """A reader that cannot read."""

    def answers(self, readings: Sequence[Reading]) -> dict[str, npt.NDArray[np.float64]]:
        raise RuntimeError("no session")


def screen_that(
    shares: Mapping[str, Mapping[str, float]] | None = None,
    *,
    another: Collection[str] = (),
    calming: Collection[str] = (),
    longest: int = 10_000,
) -> CrisisScreen:
    """A screen whose reader `Sees` this, with thresholds that are known."""
    return CrisisScreen(Sees(shares, another=another, calming=calming, longest=longest), THRESHOLDS)


@pytest.fixture
def phrases_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a bundle's screen gets one that goes by phrases: what these tests say is plain enough."""
    monkeypatch.setattr(CrisisScreen, "from_bundle", classmethod(lambda cls, bundle="default": cls(None)))
