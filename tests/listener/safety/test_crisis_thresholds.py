"""How sure the screen must be: the file that says so, and how its numbers are found."""

from __future__ import annotations

import numpy as np
import pytest

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.safety.thresholds import Thresholds, shipped_thresholds
from allears.text.reading import Reading
from allears.training.safety.fit_thresholds import LOWEST, part_scores, scores, threshold_for
from made_up_danger import Sees

NAMES = ("clear", "doubt", "part_clear", "part_doubt", "outright", "all_clear")
GOOD = "[thresholds]\n" + "".join(f"{name} = 0.{place}\n" for place, name in enumerate(NAMES, 1))


def test_every_threshold_is_read_and_what_else_stands_there_is_left_alone():
    found = Thresholds.parse(GOOD + "[on_valid]\ncases_found = 98.0\n")
    assert found == Thresholds(0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


def test_what_ships_can_be_read_and_a_part_needs_no_less_than_the_whole():
    shipped = shipped_thresholds()
    assert shipped.part_clear >= shipped.clear
    assert shipped.part_doubt >= shipped.doubt
    assert shipped.outright < shipped.clear


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "not the screen's thresholds"),
        ("thresholds = 3", "not the screen's thresholds"),
        ("[thresholds", "not the screen's thresholds"),
        (GOOD.replace("outright = 0.5\n", ""), "not the screen's thresholds .*outright"),
        (GOOD.replace("0.5", '"high"'), "not the screen's thresholds .*high"),
        (GOOD.replace("clear = 0.1", "clear = 0.0"), "clear must lie between 0 and 1"),
        (GOOD.replace("doubt = 0.2", "doubt = 1.0"), "doubt must lie between 0 and 1"),
        (GOOD.replace("doubt = 0.2", "doubt = nan"), "doubt must lie between 0 and 1"),
    ],
)
def test_a_broken_file_is_one_sentence(content: str, sentence: str):
    with pytest.raises(AllearsError, match=rf"^thresholds\.toml: .*{sentence}") as raised:
        Thresholds.parse(content)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("share", "raised"), [(0.0, 0), (0.05, 5), (0.5, 50)])
def test_a_threshold_is_the_lowest_that_no_more_than_a_share_of_the_harmless_reach(share: float, raised: int):
    harmless = np.linspace(0.05, 0.9, 100)
    found = threshold_for(harmless, share)
    assert (harmless >= found).sum() == raised
    assert (harmless >= found - 0.001).sum() == raised + 1


def test_a_threshold_from_no_messages_or_from_calm_ones_is_still_one():
    assert threshold_for(np.zeros(0), 0.1) == LOWEST
    assert threshold_for(np.zeros(50), 0.1) == LOWEST


def test_the_worst_part_of_a_message_counts_and_a_short_one_has_none():
    reader = Sees({"rope": {"suicide": 0.4, "doubt": 0.2}, "tired": {"doubt": 0.5}}, longest=24)
    filled = "We had soup on the balcony and the neighbours came by with their dog. "
    messages = ["The rope.", f"{filled} {filled.replace('soup', 'tea')} The rope. I am so tired of it all."]
    clear, doubt = part_scores(reader, messages)
    np.testing.assert_allclose(clear, [0, 0.4])
    np.testing.assert_allclose(doubt, [0, 0.6])
    assert part_scores(reader, ["Yes.", "No."])[0].tolist() == [0, 0]


def test_a_reading_is_scored_by_all_its_dangers_and_with_its_doubt():
    reader = Sees({"rope": {"suicide": 0.4, "abuse": 0.1, "doubt": 0.2}})
    clear, doubt = scores(reader, [Reading((Turn(Role.SEEKER, "The rope."),))])
    assert (clear[0], doubt[0]) == (pytest.approx(0.5), pytest.approx(0.7))
