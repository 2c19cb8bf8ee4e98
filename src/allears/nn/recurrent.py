"""A bidirectional LSTM that is blind to padding."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from allears.nn.rows import spread


class BiLSTM(nn.Module):
    """`states, last = lstm(inputs, mask)`: [..., L, d] to [..., L, 2h] and [..., 2h]; leading dims are free.

    `states` is zero on padding, and `last` joins the last state of each direction. Padding comes after the
    real tokens, as `text.layout` puts it. A row of nothing but padding gives zeros.
    """

    def __init__(self, input_size: int, hidden_size: int):
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, batch_first=True, bidirectional=True)
        self.size = 2 * hidden_size

    def forward(self, inputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        leading, length = mask.shape[:-1], mask.shape[-1]
        lengths = mask.reshape(-1, length).sum(-1)  # [N]
        real = lengths > 0
        if not real.any():
            return inputs.new_zeros(*mask.shape, self.size), inputs.new_zeros(*leading, self.size)
        rows = inputs.reshape(-1, length, inputs.shape[-1])[real]
        # float32 always: rounding adds up over the steps, and not every device has a bf16 LSTM
        with torch.autocast(inputs.device.type, enabled=False):
            packed = pack_padded_sequence(
                rows.float(), lengths[real].cpu(), batch_first=True, enforce_sorted=False
            )
            output, (hidden, _) = self.lstm(packed)
        states, _ = pad_packed_sequence(output, batch_first=True, total_length=length)
        last = torch.cat([hidden[0], hidden[1]], -1)  # forward, backward
        return (
            spread(states, real).reshape(*leading, length, self.size),
            spread(last, real).reshape(*leading, self.size),
        )
