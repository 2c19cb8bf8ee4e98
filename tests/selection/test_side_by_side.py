"""Work that is shared out among threads comes back in order, and errors come back too."""

from __future__ import annotations

import threading

import pytest

from allears.runtime.side_by_side import cores, side_by_side


def test_results_come_in_the_order_of_the_items_whoever_is_done_first():
    second_is_done = threading.Event()

    def work(item: int) -> int:
        if item == 1:
            assert second_is_done.wait(10)
        else:
            second_is_done.set()
        return 10 * item

    assert list(side_by_side(work, [1, 2], 2)) == [10, 20]


def test_one_piece_or_one_core_needs_no_thread():
    here = threading.get_ident()
    assert list(side_by_side(lambda _: threading.get_ident(), [1], 4)) == [here]
    assert list(side_by_side(lambda _: threading.get_ident(), [1, 2, 3], 1)) == [here] * 3


def test_an_error_reaches_the_one_who_asked():
    def work(item: int) -> float:
        return 1 / item

    with pytest.raises(ZeroDivisionError):
        list(side_by_side(work, [1, 0], 2))


def test_there_is_a_core():
    assert cores() >= 1
