"""How the cross-encoder lays out a pair."""

from __future__ import annotations

import torch

from allears.models.selection.cross_encoder import join
from allears.nn.inputs import Inputs

PAD, CLS, SEP = 0, 1, 2


def inputs(rows: list[list[int]], segment: int) -> Inputs:
    longest = max(map(len, rows))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    return Inputs(ids, mask, mask * segment)


CONTEXT = inputs([[CLS, 10, 11, SEP, 12, SEP], [CLS, 13, SEP]], segment=0)
PERSONA = inputs([[CLS, 20, SEP], [CLS, 21, SEP, 22, SEP]], segment=1)
RESPONSES = inputs([[CLS, 30, SEP], [CLS, 31, 32, SEP]], segment=1)


def real(pairs: Inputs, row: int, candidate: int) -> list[int]:
    assert pairs.mask[row, candidate].diff().max() <= 0, "padding comes last"
    return pairs.ids[row, candidate][pairs.mask[row, candidate].bool()].tolist()


def test_context_persona_and_response_follow_one_another_without_gaps() -> None:
    pairs = join(CONTEXT, PERSONA, RESPONSES[None], maximum=64)
    assert real(pairs, 0, 1) == [CLS, 10, 11, SEP, 12, SEP, 20, SEP, 31, 32, SEP]
    assert real(pairs, 1, 0) == [CLS, 13, SEP, 21, SEP, 22, SEP, 30, SEP]
    assert pairs.segments[1, 0][:9].tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 1]


def test_without_persona_the_response_follows_the_context() -> None:
    pairs = join(CONTEXT, None, RESPONSES[None], maximum=64)
    assert real(pairs, 1, 1) == [CLS, 13, SEP, 31, 32, SEP]
    assert pairs.ids.shape == (2, 2, 9), "no wider than the longest pair"


def test_own_candidates_are_paired_with_their_context() -> None:
    pairs = join(CONTEXT, None, RESPONSES[torch.tensor([[1], [0]])], maximum=64)
    assert real(pairs, 0, 0)[-3:] == [31, 32, SEP]
    assert real(pairs, 1, 0)[-2:] == [30, SEP]


def test_too_long_a_pair_loses_the_end_of_the_persona_first() -> None:
    pairs = join(CONTEXT, PERSONA, RESPONSES[None], maximum=7)
    assert real(pairs, 1, 0) == [CLS, 13, SEP, 21, SEP, 30, SEP]


def test_then_it_loses_the_oldest_words_but_never_the_response() -> None:
    pairs = join(CONTEXT, PERSONA, RESPONSES[None], maximum=6)
    assert real(pairs, 0, 1) == [CLS, 12, SEP, 31, 32, SEP]
    assert pairs.mask.sum(-1).max() == 6
