"""Layers that go on from where an encoder ends, and learn what it was not trained for while it stays as it is.

h <- h + O attention(norm(h))
h <- h + W2 gelu(W1 norm(h))          pre-norm; O and W2 begin as zeros, so at first nothing is changed
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class FurtherLayers(nn.Module):
    def __init__(self, size: int, *, layers: int, heads: int, inner: int, dropout: float = 0.1):
        super().__init__()
        if size % heads:
            raise ValueError(f"{heads} heads cannot share a width of {size}")
        self.layers = nn.ModuleList(_Layer(size, heads, inner, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(size)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """States [B, L, d] of an encoder to states of the same shape; `mask` [B, L] is 1 on real tokens."""
        bias = (1.0 - mask.to(states.dtype))[:, None, None, :] * -1e4
        for layer in self.layers:
            states = layer(states, bias)
        found: Tensor = self.norm(states)
        return found


class _Layer(nn.Module):
    def __init__(self, size: int, heads: int, inner: int, dropout: float):
        super().__init__()
        self.heads, self.chance = heads, dropout
        self.own_norm, self.forward_norm = nn.LayerNorm(size), nn.LayerNorm(size)
        self.query_key_value = nn.Linear(size, 3 * size)
        self.output = nn.Linear(size, size)
        self.wide, self.narrow = nn.Linear(size, inner), nn.Linear(inner, size)
        self.dropout = nn.Dropout(dropout)
        for last in (self.output, self.narrow):
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def forward(self, states: Tensor, bias: Tensor) -> Tensor:
        split = self.query_key_value(self.own_norm(states)).unflatten(-1, (3, self.heads, -1))
        queries, keys, values = split.permute(2, 0, 3, 1, 4)  # [B, heads, L, d / heads] each
        if torch.onnx.is_in_onnx_export():  # spelled out: few operations, which every runtime has
            weights = (queries @ keys.transpose(-1, -2) / queries.shape[-1] ** 0.5 + bias).softmax(-1)
            seen = weights @ values
        else:
            seen = F.scaled_dot_product_attention(
                queries,
                keys,
                values,
                attn_mask=bias.to(queries.dtype),
                dropout_p=self.chance if self.training else 0.0,
            )
        states = states + self.dropout(self.output(seen.transpose(1, 2).flatten(-2)))
        found: Tensor = states + self.dropout(self.narrow(F.gelu(self.wide(self.forward_norm(states)))))
        return found
