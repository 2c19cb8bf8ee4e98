"""The BiLSTM that is blind to padding."""

from __future__ import annotations

import torch

from allears.nn.recurrent import BiLSTM

MASK = torch.tensor([[[1, 1, 1], [1, 0, 0], [0, 0, 0]], [[1, 1, 0], [0, 0, 0], [0, 0, 0]]])  # [2, 3, 3]


def test_each_row_is_read_as_if_it_were_alone_and_unpadded() -> None:
    torch.manual_seed(0)
    lstm, inputs = BiLSTM(4, 5), torch.randn(2, 3, 3, 4)
    states, last = lstm(inputs, MASK)
    assert states.shape == (2, 3, 3, 10)
    assert last.shape == (2, 3, 10)
    alone, (hidden, _) = lstm.lstm(inputs[1, 0, :2][None])
    torch.testing.assert_close(states[1, 0, :2], alone[0])
    torch.testing.assert_close(last[1, 0], torch.cat([hidden[0, 0], hidden[1, 0]]))
    assert not states[MASK == 0].any()
    assert not last[MASK.sum(-1) == 0].any()


def test_nothing_but_padding_gives_zeros() -> None:
    states, last = BiLSTM(4, 5)(torch.randn(2, 3, 4), torch.zeros(2, 3, dtype=torch.long))
    assert not states.any()
    assert not last.any()
    assert states.shape == (2, 3, 10)
