"""Who gets which unit: pure functions."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allears.study.assignment import (
    RaterState,
    UnitState,
    checks_failed,
    choose,
    due_check,
    majority,
    missing,
    room,
    sides,
    wanted,
)
from allears.study.design import Check, Checks, Raters

NO_CHECKS = Checks()
THREE = Raters(per_unit=3, units=100)
MIME = Raters(per_unit=3, units=100, fourth="better")


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        (["MIME", "MIME", "MoEL"], "MIME"),
        (["tie", "MoEL", "tie"], "tie"),
        (["MIME", "MoEL", "tie"], None),  # all three annotators came to different conclusions
        (["MIME", "MoEL", "tie", "MoEL"], "MoEL"),  # the fourth decides
        ([], None),
    ],
)
def test_the_majority_decides_and_a_three_way_split_does_not(votes: list[str], verdict: str | None):
    assert majority(votes) == verdict


def test_a_fourth_rater_is_wanted_only_after_a_three_way_split():
    assert wanted(["a", "b"], MIME) == 3
    assert wanted(["a", "a", "b"], MIME) == 3
    assert wanted(["a", "b", "tie"], MIME) == 4
    assert wanted(["a", "b", "tie", "a"], MIME) == 4  # and never a fifth
    assert wanted(["a", "b", "tie"], THREE) == 3  # without the rule


def test_a_unit_has_room_while_answers_and_open_ones_are_fewer_than_wanted():
    assert room(UnitState(1, "u", "i", votes=("a",), open=1), THREE) == 1
    assert room(UnitState(1, "u", "i", votes=("a", "a"), open=1), THREE) == 0
    assert missing(UnitState(1, "u", "i", votes=("a", "a"), open=1), THREE) == 1
    assert room(UnitState(1, "u", "i", votes=("a", "b", "tie")), MIME) == 1
    assert room(UnitState(1, "u", "i", votes=("a", "b", "tie"), open=1), MIME) == 0


def test_units_grow_at_the_same_pace():
    units = [UnitState(number, f"u{number}", f"i{number}", votes=("",) * (number % 3)) for number in range(9)]
    chosen = choose(units, RaterState("anna"), THREE, NO_CHECKS, seed=1)
    assert chosen is not None
    assert chosen.votes == ()


def test_a_rater_sees_the_systems_equally_often():
    units = [
        UnitState(number, f"u{number}", f"i{number // 3}", (("x", "y", "z")[number % 3],))
        for number in range(60)
    ]
    seen: Counter[str] = Counter()
    had: set[int] = set()
    for _ in range(12):
        chosen = choose(units, RaterState("anna", had=frozenset(had), systems=seen), THREE, NO_CHECKS, seed=1)
        assert chosen is not None
        had.add(chosen.id)
        seen.update(chosen.systems)
    assert seen == {"x": 4, "y": 4, "z": 4}


def test_the_order_is_chance_but_the_same_for_the_same_seed():
    units = [UnitState(number, f"u{number}", f"i{number}") for number in range(50)]
    first = [choose(units, RaterState(name), THREE, NO_CHECKS, seed=1) for name in "abcdefghij"]
    again = [choose(units, RaterState(name), THREE, NO_CHECKS, seed=1) for name in "abcdefghij"]
    other = [choose(units, RaterState(name), THREE, NO_CHECKS, seed=2) for name in "abcdefghij"]
    assert first == again != other
    assert len({unit.id for unit in first if unit is not None}) > 5


def test_nobody_gets_a_unit_twice_nor_more_than_they_should():
    units = [UnitState(1, "u", "i"), UnitState(2, "v", "i")]
    assert choose(units, RaterState("a", had=frozenset({1, 2})), THREE, NO_CHECKS, 1) is None
    assert choose(units, RaterState("a", done=100), THREE, NO_CHECKS, 1) is None
    once = Raters(item_once=True)
    one_seen = RaterState("a", had=frozenset({1}), had_items=frozenset({"i"}))
    assert choose(units, one_seen, once, NO_CHECKS, 1) is None
    assert choose(units, one_seen, THREE, NO_CHECKS, 1) == units[1]


def test_the_side_a_system_is_shown_on_alternates_and_begins_by_chance():
    units = [UnitState(number, f"u{number}", "i", ("x", "y")) for number in range(200)]
    first = Counter(sides(unit, 1)[0] for unit in units)
    assert 60 < first[0] < 140
    for unit in units[:5]:
        order = [sides(UnitState(unit.id, unit.key, "i", unit.systems, given=times), 1) for times in range(4)]
        assert order[0] == order[2] != order[1] == order[3]


def test_one_check_comes_in_each_window_at_a_place_that_differs():
    check = [UnitState(100 + number, f"check/{number}", "", check=number) for number in range(3)]
    checks = Checks(every=5, items=(Check({"a": 1}),) * 3)
    places = set()
    for name in "abcdefghijklmnop":
        at = []
        had: set[int] = set()
        for done in range(12):
            due = due_check(check, RaterState(name, done=done, checks=frozenset(had)), checks, 1)
            if due is not None:
                at.append(done)
                had.add(due.id)
        assert [place // 4 for place in at] == [0, 1, 2]
        places.add(tuple(at))
    assert len(places) > 5


def test_a_failed_check_is_known_whatever_side_it_was_shown_on():
    assert not checks_failed({"better": "first"}, {"better": "A"}, (0, 1))
    assert not checks_failed({"better": "first"}, {"better": "B"}, (1, 0))
    assert checks_failed({"better": "first"}, {"better": "A"}, (1, 0))
    assert checks_failed({"empathy": 1}, {"empathy": 2}, (0,))
    assert checks_failed({"empathy": 1}, {}, (0,))
    assert not checks_failed({"warm.A": 5}, {"warm.A": 1, "warm.B": 5}, (1, 0))


@given(
    st.lists(st.sampled_from(["a", "b", "tie"]), min_size=3, max_size=3), st.sampled_from(["a", "b", "tie"])
)
def test_with_a_fourth_rater_there_is_always_a_verdict(votes: list[str], fourth: str):
    more = wanted(votes, MIME) - 3
    assert majority([*votes, *([fourth] * more)]) is not None
