"""How turns, persona sentences and responses become padded ids."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.text.layout import Limits, context_rows, flatten, pad_flat, pad_nested, plain_rows

MARKS: Any = SimpleNamespace(pad=0, start=1, end=2, size=99)
SEEKER, SUPPORTER = Turn(Role.SEEKER, "…"), Turn(Role.SUPPORTER, "…")


def test_a_flat_context_is_one_sequence_with_segments_by_speaker() -> None:
    rows = context_rows([SEEKER, SUPPORTER, SEEKER], [[10, 11], [20], [30]], Limits())
    ids, segments = flatten(rows, MARKS)
    assert ids == [1, 10, 11, 2, 20, 2, 30, 2]
    assert segments == [0, 0, 0, 0, 1, 1, 0, 0]


def test_the_first_turn_may_be_longer_than_the_others() -> None:
    limits = Limits(first_turn_tokens=3, turn_tokens=2)
    rows = context_rows([SEEKER, SUPPORTER], [[1, 2, 3, 4], [5, 6, 7]], limits)
    assert [ids for ids, _ in rows] == [[1, 2, 3], [5, 6]]


def test_when_room_runs_out_the_oldest_turns_go_first() -> None:
    rows = context_rows([SEEKER, SUPPORTER, SEEKER], [[1], [2], [3]], Limits(context_tokens=5))
    assert [ids for ids, _ in rows] == [[2], [3]]


def test_a_lone_turn_that_is_too_long_keeps_its_end() -> None:
    rows = context_rows([SEEKER], [[1, 2, 3, 4, 5]], Limits(context_tokens=5))
    assert rows == [([3, 4, 5], [0, 0, 0])]


@pytest.mark.parametrize("tokens", [1, 2])
def test_no_room_for_a_word_keeps_no_word(tokens: int) -> None:
    limits: Any = SimpleNamespace(
        context_tokens=tokens, first_turn_tokens=90, turn_tokens=30
    )  # Limits refuses
    assert context_rows([SEEKER, SEEKER], [[1, 2, 3], [4, 5]], limits) == [([], [])]


def test_the_smallest_context_is_one_word() -> None:
    rows = context_rows([SEEKER, SEEKER], [[7, 8, 9], [4, 5]], Limits(context_tokens=3))
    assert flatten(rows, MARKS)[0] == [1, 5, 2]


@pytest.mark.parametrize(
    ("limit", "least"),
    [
        ("context_tokens", 3),
        ("first_turn_tokens", 1),
        ("turn_tokens", 1),
        ("response_tokens", 1),
        ("persona_sentences", 0),
        ("persona_sentence_tokens", 1),
    ],
)
def test_limits_refuse_what_leaves_nothing_to_read(limit: str, least: int) -> None:
    assert getattr(Limits(**{limit: least}), limit) == least
    with pytest.raises(AllearsError, match=f"limits: {limit} must be at least {least}, got {least - 1}"):
        Limits(**{limit: least - 1})


lengths = st.lists(st.integers(0, 12), min_size=1, max_size=8)


@given(lengths, st.integers(3, 30))
def test_a_context_never_exceeds_its_limit_and_always_keeps_the_last_turn(
    sizes: list[int], room: int
) -> None:
    turns = [SEEKER, SUPPORTER] * len(sizes)
    pieces = [[7] * size for size in sizes]
    rows = context_rows(turns[: len(sizes)], pieces, Limits(context_tokens=room))
    ids, segments = flatten(rows, MARKS)
    assert len(ids) == len(segments) <= room
    assert len(rows[-1][0]) == min(sizes[-1], room - 2)


def test_plain_rows_are_cut_to_the_limit() -> None:
    assert plain_rows([[5, 6, 7], []], 2, segment=1) == [([5, 6], [1, 1]), ([], [])]


def test_a_flat_batch_is_no_wider_than_its_longest_row() -> None:
    tokens = pad_flat([([5, 6, 7], [1, 1, 1]), ([8], [1]), ([], [])], pad=9)
    assert tokens.ids.tolist() == [[5, 6, 7], [8, 9, 9], [9, 9, 9]]
    assert tokens.mask.tolist() == [[1, 1, 1], [1, 0, 0], [0, 0, 0]]
    assert tokens.segments.tolist() == [[1, 1, 1], [1, 0, 0], [0, 0, 0]]


def test_a_nested_batch_has_a_row_for_each_utterance_and_masks_the_missing_ones() -> None:
    tokens = pad_nested([[([5, 6], [1, 1]), ([7], [0])], [([8], [1])], []], MARKS)
    assert tokens.ids.tolist() == [
        [[1, 5, 6, 2], [1, 7, 2, 0]],
        [[1, 8, 2, 0], [0, 0, 0, 0]],
        [[0, 0, 0, 0], [0, 0, 0, 0]],
    ]
    assert tokens.mask.sum(-1).tolist() == [[4, 3], [3, 0], [0, 0]]
    assert tokens.segments[0].tolist() == [[1, 1, 1, 1], [0, 0, 0, 0]]


def test_a_batch_of_nothing_still_has_a_width() -> None:
    assert pad_flat([([], [])], pad=0).ids.shape == (1, 1)
    assert pad_nested([[]], MARKS).ids.shape == (1, 1, 1)
