"""Doubt grows where readers found replies beside the point."""

from __future__ import annotations

from allears.listener.trust import MOST_CLAIMS, Doubt


def test_what_is_near_and_claims_nothing_is_trusted():
    assert Doubt()(near=0.8, told=6, length=14, claimed=0) < 0
    assert Doubt()(near=0.5, told=6, length=14, claimed=0) > 0


def test_doubt_grows_with_what_was_told_and_with_what_is_claimed_and_falls_with_nearness_and_length():
    doubt = Doubt()(near=0.6, told=10, length=10, claimed=1)
    assert Doubt()(near=0.7, told=10, length=10, claimed=1) < doubt
    assert Doubt()(near=0.6, told=20, length=10, claimed=1) > doubt
    assert Doubt()(near=0.6, told=10, length=20, claimed=1) < doubt
    assert Doubt()(near=0.6, told=10, length=10, claimed=2) > doubt


def test_empty_texts_and_endless_claims_are_no_trouble():
    assert Doubt()(near=0.0, told=0, length=0, claimed=0) == Doubt().start
    assert Doubt()(0.5, 5, 5, MOST_CLAIMS) == Doubt()(0.5, 5, 5, 99)
