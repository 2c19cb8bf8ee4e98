"""Ensem (Rashkin et al. 2019, appendix D.2): the encoder's output joined with what a frozen emotion encoder says.

H = Enc(x_1 ... x_m)                     h_c = FrozenReader(x): its mean state and its 32 emotions, never trained
^H_i = W [H_i ; h_c]                     joined at every place, back to the width that the decoder expects
P(y_t | y_<t, x) = softmax(E Dec(y_<t, ^H))

The paper takes DeepMoji; here it is the encoder that ships with allears and its emotion head (`beside.py`).
"""

from __future__ import annotations

from typing import Unpack

import torch
from torch import nn

from allears.models.generation.empathetic import EmpatheticBatch, Read, StackModel, StackOptions


class Ensemble(StackModel):
    names_emotions = False  # the frozen encoder names them, this model does not

    def __init__(self, vocabulary: int, *, beside: int = 384 + 32, **options: Unpack[StackOptions]):
        self.beside = beside  # numbers that the frozen encoder gives; before all parts, which need it
        super().__init__(vocabulary, **options)

    def _add_own(self, size: int, emotions: int) -> None:
        self.join = nn.Linear(size + self.beside, size)  # W

    def read(self, batch: EmpatheticBatch) -> Read:
        states = self.encoder(self.words, batch.context)  # H [B, L, d]
        said = batch.beside[:, None, :].expand(-1, states.shape[1], -1).to(states.dtype)  # h_c [B, L, f]
        return Read(self.join(torch.cat([states, said], -1)), batch.context.mask)
