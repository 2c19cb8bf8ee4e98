"""What a head's mistakes cost."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from allears.text.reading_layout import NOT_ASKED


def label_loss(logits: Tensor, wanted: Tensor, *, multi_label: bool, smoothing: float = 0.0) -> Tensor:
    """Mean over the batch: cross-entropy, or for labels that do not exclude each other the sum of each one's.

    logits and wanted [B, labels]: 1 for the true label, or shares between them. `smoothing` gives a little of the
    truth to every other label.
    """
    if multi_label:
        return F.binary_cross_entropy_with_logits(logits.float(), wanted, reduction="none").sum(-1).mean()
    return F.cross_entropy(logits.float(), wanted, label_smoothing=smoothing)


def rationale_loss(logits: Tensor, marks: Tensor) -> Tensor:
    """Mean over the tokens that are asked about: logits and marks [B, L]; zero where there are none."""
    asked = marks != NOT_ASKED
    each = F.binary_cross_entropy_with_logits(logits.float(), marks.clamp(min=0).float(), reduction="none")
    return (each * asked).sum() / asked.sum().clamp(min=1)
