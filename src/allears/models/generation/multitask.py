"""Multi-TR (Rashkin et al. 2019, appendix D.2; MIME section 4.2): a Transformer whose encoder also names the emotion.

H = Enc([QRY] x_1 ... x_m),     c = H_0
P(e | x) = softmax(W c)
P(y_t | y_<t, x) = softmax(E Dec(y_<t, H))
L = -log P(e | x) - 1/N sum_t log P(y_t | y_<t, x)
"""

from __future__ import annotations

from torch import nn

from allears.models.generation.empathetic import EmpatheticBatch, Read, StackModel


class Multitask(StackModel):
    def _add_own(self, size: int, emotions: int) -> None:
        self.emotions = nn.Linear(size, emotions)  # W

    def read(self, batch: EmpatheticBatch) -> Read:
        states = self.encoder(self.words, batch.context)
        return Read(states, batch.context.mask, self.emotions(states[:, 0]))
