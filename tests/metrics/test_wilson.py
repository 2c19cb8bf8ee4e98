"""Wilson's interval of a share."""

from __future__ import annotations

import pytest

from allears.metrics.significance import wilson_interval


def test_it_is_the_published_example():
    # Brown, Cai and DasGupta (2001): 10 of 20 gives 29.9% to 70.1%
    found = wilson_interval(10, 20)
    assert (found.value, found.low, found.high) == pytest.approx((50.0, 29.93, 70.07), abs=0.01)


def test_at_0_and_100_percent_it_still_has_a_width():
    none, all_of_them = wilson_interval(0, 50), wilson_interval(50, 50)
    assert (none.low, all_of_them.high) == pytest.approx((0.0, 100.0))
    assert none.high == pytest.approx(100 - all_of_them.low)
    assert 5 < none.high < 10


def test_more_confidence_and_fewer_examples_make_it_wider():
    def width(hits: int, of: int, confidence: float = 0.95) -> float:
        found = wilson_interval(hits, of, confidence=confidence)
        return found.high - found.low

    assert width(5, 10) > width(50, 100)
    assert width(50, 100, 0.99) > width(50, 100, 0.9)


def test_with_nothing_counted_it_could_be_anything():
    found = wilson_interval(0, 0)
    assert (found.low, found.high) == (0.0, 100.0)


@pytest.mark.parametrize(("hits", "of"), [(3, 2), (-1, 5)])
def test_what_is_no_share_is_refused(hits: int, of: int):
    with pytest.raises(ValueError, match="is no share"):
        wilson_interval(hits, of)
