"""The reader: one encoder pass over what was said, and every head's answer from it.

states = encoder(tokens)            one vector per token
text   = mean of the states         one vector for all that was said
head k: logits_k = W_k text         what the text shows
rationales: r_i = w_k states_i      which tokens show it (EPITOME's mechanisms)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from allears.nn.encoder import Encoder
from allears.nn.inputs import Inputs
from allears.nn.pooling import pool


@dataclass(frozen=True, slots=True)
class ReaderOutput:
    """By head: logits [B, labels], and for the heads that point at tokens, logits [B, L]."""

    logits: dict[str, Tensor] = field(default_factory=dict)
    rationales: dict[str, Tensor] = field(default_factory=dict)


class Reader(nn.Module):
    def __init__(
        self,
        encoder: Encoder,
        heads: Mapping[str, int],  # name -> how many labels
        *,
        multi_label: Sequence[str] = (),  # heads whose labels do not exclude each other
        rationales: Sequence[str] = (),  # heads that also say where
        hidden: int = 0,  # of a hidden layer in every head; 0: none
        pooling: str = "mean",
        dropout: float = 0.1,
        uncertainty: bool = False,  # learn how much each head's loss counts
    ):
        super().__init__()
        self.encoder, self.pooling = encoder, pooling
        self.heads = nn.ModuleDict(
            {name: _head(encoder.size, hidden, labels, dropout) for name, labels in heads.items()}
        )
        self.pointers = nn.ModuleDict({name: nn.Linear(encoder.size, 1) for name in rationales})
        # s = log of a head's variance: its loss counts exp(-s), and s itself keeps that from vanishing
        self.log_variance = nn.Parameter(torch.zeros(len(heads))) if uncertainty else None
        with torch.no_grad():
            for name in multi_label:  # about one label in all at first, not half of them
                last: nn.Linear = self.heads[name][-1]  # type: ignore[index]
                last.bias.fill_(-math.log(max(1, heads[name] - 1)))

    def forward(self, inputs: Inputs, heads: Sequence[str] | None = None) -> ReaderOutput:
        """Every head's answer, or only those of `heads`, from one pass of the encoder."""
        states = self.encoder(inputs)  # [B, L, d]
        output = self.answer(self.text(states, inputs), heads)
        pointing = [name for name in output.logits if name in self.pointers]
        return ReaderOutput(
            output.logits, {name: self.pointers[name](states).squeeze(-1) for name in pointing}
        )

    def text(self, states: Tensor, inputs: Inputs) -> Tensor:
        """One vector [B, d] for all that was said."""
        return pool(states, inputs.mask, self.pooling)

    def answer(self, text: Tensor, heads: Sequence[str] | None = None) -> ReaderOutput:
        """The heads' answers from that vector; where they point is not asked."""
        wanted = list(self.heads) if heads is None else list(heads)
        return ReaderOutput({name: self.heads[name](text) for name in wanted})

    def weighted(self, loss: Tensor, head: str) -> Tensor:
        """A head's loss with its learned weight (Kendall et al. 2018); the loss itself where none is learned."""
        if self.log_variance is None:
            return loss
        spread = self.log_variance[list(self.heads).index(head)]
        return torch.exp(-spread) * loss + spread / 2


def _head(size: int, hidden: int, labels: int, dropout: float) -> nn.Sequential:
    if not hidden:
        return nn.Sequential(nn.Dropout(dropout), nn.Linear(size, labels))
    return nn.Sequential(
        nn.Dropout(dropout),
        nn.Linear(size, hidden),
        nn.GELU(),
        nn.Dropout(dropout),
        nn.Linear(hidden, labels),
    )
