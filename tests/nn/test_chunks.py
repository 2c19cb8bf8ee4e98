"""Scoring candidates a few at a time gives what scoring them all at once gives."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import torch
from torch import Tensor

from allears.nn import chunks
from allears.nn.chunks import score_in_chunks
from allears.nn.inputs import Encoded

LENGTHS = [5, 1, 9, 3, 3, 8, 0, 2]


@dataclass
class Watched:
    """A score that notes the shape of the responses it was given: [B or 1, C, n]."""

    seen: list[tuple[int, ...]] = field(default_factory=list)

    def __call__(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        self.seen.append(tuple(response.mask.shape))
        words = (response.states * response.mask[..., None]).sum(-2)  # [B or 1, C, d]
        return (context.vector[:, None] * words).sum(-1)


def texts(lengths: list[int], rows: int = 1) -> Encoded:
    mask = torch.tensor([[int(place < length) for place in range(9)] for length in lengths]).repeat(
        rows, 1, 1
    )
    torch.manual_seed(0)
    return Encoded(states=torch.randn(rows, len(lengths), 9, 4), mask=mask)


def contexts(rows: int) -> Encoded:
    torch.manual_seed(1)
    return Encoded(vector=torch.randn(rows, 4), mask=torch.ones(rows, 6, dtype=torch.long))


@pytest.mark.parametrize("rows", [1, 3])
@torch.no_grad()
def test_candidates_are_scored_shortest_first_and_come_back_in_their_order(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "CACHED_CANDIDATES", 3)
    watched, context, response = Watched(), contexts(rows), texts(LENGTHS, rows)
    scores = score_in_chunks(watched, context, None, response, pairs=10_000)
    # 0 1 2 | 3 3 5 | 8 9: no chunk is wider than its longest candidate
    assert watched.seen == [(rows, 3, 2), (rows, 3, 5), (rows, 2, 9)]
    torch.testing.assert_close(scores, Watched()(context, None, response))


@torch.no_grad()
def test_a_row_with_a_longer_candidate_decides_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "CACHED_CANDIDATES", 1)
    watched, response = Watched(), texts([2, 2], rows=2)
    response.mask[1, 0, :7] = 1
    whole = Watched()(contexts(2), None, response)
    torch.testing.assert_close(score_in_chunks(watched, contexts(2), None, response, pairs=9_999), whole)
    assert watched.seen == [(2, 1, 2), (2, 1, 7)]


def test_while_learning_nothing_is_sorted_and_all_fits_at_once() -> None:
    watched = Watched()
    score_in_chunks(watched, contexts(1), None, texts(LENGTHS), pairs=10_000)
    assert watched.seen == [(1, len(LENGTHS), 9)]
