"""DIM before it has learned anything."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from allears.models.selection.dim import DIM  # noqa: E402
from allears.nn.coattention import co_attend  # noqa: E402
from allears.nn.inputs import Inputs  # noqa: E402


def test_a_new_model_looks_at_the_same_word_first():
    """Where every word looks at every other alike, no step tells it anything, and it stays at chance."""
    torch.manual_seed(0)
    model = DIM(vocabulary_size=400, embedding_size=100).eval()
    order = torch.randperm(300)
    said, answered = order[:8].clone(), order[8:16].clone()
    answered[5] = said[3]  # the one word that both have
    with torch.no_grad():
        left, right = (
            model.encode_context(_row(ids)).states.flatten(1, 2) for ids in (said, answered)
        )  # [1, 8, d] each
        seen = torch.ones(1, 8)
        _, to_left = co_attend(left, seen, right[:, None], seen[:, None])
    assert to_left[0, 0, 5].argmax() == 3
    assert to_left[0, 0, 5, 3] > 3 / 8  # three times an even share


def _row(ids):
    ids = ids[None, None]
    return Inputs(ids, torch.ones_like(ids), torch.zeros_like(ids))
