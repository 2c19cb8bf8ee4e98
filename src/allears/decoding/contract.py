"""What a search needs of a model, and what it gives back.

A model is a function `step(tokens [B], state) -> (logits [B, V], state)`: one more token for each row, and how much it
would like each token to come next. The state is the model's own business (a cache of keys and values, say). A search
only ever asks for some of its rows, by `reorder(state, rows)`; a tuple of arrays whose first dimension is the batch
needs none of its own (`take_rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = Any  # of any library that follows the array API standard
State = Any
Step = Callable[[Array, State], tuple[Array, State]]
# A step that also mixes its rows: tokens [R], state and weights [B, R] in, weights @ logits [B, V] out.
MixedStep = Callable[[Array, State, Array], tuple[Array, State]]
Reorder = Callable[[State, Sequence[int]], State]

# Logits [B, V] and what each row has written so far, in; logits out: `processors.py`.
Processor = Callable[[Array, Sequence[Sequence[int]]], Array]
# Scores [B, V] in and out, without a look at what was written; only for drawing: `warps.py`.
Warp = Callable[[Array], Array]


class Constraint(Protocol):
    """What may be written next."""

    def bias(self, examples: Sequence[int], written: Sequence[Sequence[int]]) -> npt.NDArray[np.float32]:
        """[B, V], added to the log-probabilities: 0 for free, -inf for never, between them for at a price.

        Row r goes on with `written[r]`, an answer to example `examples[r]`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Written:
    """Token ids without start and end, and the score of all of them and the end.

    The score is the model's log-probability, lowered by what processors and a constraint charged. What is barred
    makes nothing else likelier.
    """

    tokens: tuple[int, ...]
    score: float
