"""Nested inputs, [B, rows, L]: only the rows that hold something are worth computing.

One context has six utterances, its neighbour two: the four missing rows are padding, and no encoder should
spend time on them.
"""

from __future__ import annotations

from torch import Tensor

from allears.nn.encoder import Encoder
from allears.nn.inputs import Inputs


def encode_rows(encoder: Encoder, inputs: Inputs, *, all_layers: bool = False) -> Tensor:
    """What the encoder makes of [..., L] tokens, row by row: [..., L, d], zeros for rows of padding."""
    leading = inputs.mask.shape[:-1]
    flat = inputs.map(lambda tensor: tensor.reshape(-1, tensor.shape[-1]))
    real = flat.mask.any(-1)
    # encoders refuse an empty batch: when nothing is real, one row goes in and none comes out
    states = encoder(flat[real] if real.any() else flat[:1], all_layers=all_layers)
    states = spread(states[: int(real.sum())], real)
    return states.reshape(*leading, *states.shape[1:])


def spread(rows: Tensor, real: Tensor) -> Tensor:
    """Rows [n, ...] back to the n places where `real` [N] is true, zeros elsewhere: [N, ...]."""
    spread_out = rows.new_zeros(len(real), *rows.shape[1:])
    spread_out[real] = rows
    return spread_out
