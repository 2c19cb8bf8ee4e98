"""The vector that an empathetic generator keeps for each emotion: for MIME's Figure 3."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError
from allears.labels import ED_EMOTIONS

# MIME's E_E and Multi-TR's last layer, MoEL's keys
_KEPT_IN = ("emotions", "keys")


def emotion_vectors(generator: Any) -> npt.NDArray[np.float64]:
    """[emotions, d], in the order of ED_EMOTIONS, of a generator that a run folder holds."""
    model = getattr(generator, "module", None)
    for name in _KEPT_IN:
        weight = getattr(getattr(model, name, None), "weight", None)
        if weight is not None and len(weight) == len(ED_EMOTIONS):
            return np.asarray(weight.detach().float().cpu().numpy(), np.float64)
    raise AllearsError(
        "this generator keeps no vectors of the 32 emotions; mime, moel, modmoel and multitask with 32 emotions do"
    )
