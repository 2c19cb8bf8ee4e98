"""The Poly-encoder's short cut: its score needs no attended vector per pair."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from allears.models.selection.poly_encoder import PolyEncoder
from allears.nn.inputs import Inputs

SIZE = 6


class FixedStates(torch.nn.Module):
    """An encoder whose token states are rows of a table."""

    size = SIZE

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table = torch.randn(20, SIZE)

    def forward(self, inputs: Inputs) -> torch.Tensor:
        return self.table[inputs.ids]


def tokens(*rows: list[int]) -> Inputs:
    ids = torch.tensor(rows)
    return Inputs(ids, torch.ones_like(ids), torch.zeros_like(ids))


@pytest.mark.parametrize("persona", [None, tokens([9, 8, 7, 6])], ids=["no persona", "persona"])
def test_the_score_is_the_papers_attended_vector_times_the_candidate(persona: Inputs | None) -> None:
    encoder: Any = FixedStates()
    model = PolyEncoder(encoder, codes=3, similarity="dot")
    context, response = tokens([1, 2, 3]), tokens([4, 5])
    scores = model.score(
        model.encode_context(context),
        None if persona is None else model.encode_persona(persona),
        model.encode_response(response)[None],
    )

    candidate = encoder.table[[4, 5]].mean(0)  # y
    attended = []
    for text, codes in ((context, model.context_codes), (persona, model.persona_codes)):
        if text is not None:
            states = encoder.table[text.ids[0]]  # h
            vectors = (codes @ states.T).softmax(-1) @ states  # y_i
            attended.append((vectors @ candidate).softmax(-1) @ vectors)  # y_ctxt
    expected = torch.stack(attended).mean(0) @ candidate
    torch.testing.assert_close(scores, expected.reshape(1, 1))


def test_there_are_as_many_vectors_as_codes_whatever_the_length() -> None:
    encoder: Any = FixedStates()
    model = PolyEncoder(encoder, codes=128)
    assert model.encode_context(tokens([1, 2], [3, 4])).states.shape == (2, 128, SIZE)
    assert PolyEncoder(encoder).context_codes.shape == (128, SIZE), "PEC's number of codes is the default"
