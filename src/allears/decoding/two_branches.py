"""Strategy-based controllable decoding (PAL, section 3.4): with and without persona, and further away from without.

log P_final(r_t) = (1 + alpha) log P(r_t | r_<t, d, p) - alpha log P(r_t | r_<t, d) + constant      (eq. 6)

It is a step around a model's step, so every search works with it. Both branches run in one batch, their rows
interleaved: row 2i of the model answers example i with its persona, row 2i + 1 without.

    branches = TwoBranches(model.step, PAL_ALPHAS.by_token(strategy_tokens))
    sample(branches.step, branches.begin(state, start), start, reorder=branches.reorder, ...)

alpha comes from the strategy token that a row has just written; until then it is 0. To prescribe a strategy rather than
let the model choose one, send the first token through `branches.step` and start the search with the strategy's token.

A model that can mix its rows itself (`mixed_step`) spares a search the passes over two rows of all words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device

from allears.decoding.arrays import ints, take_rows
from allears.decoding.contract import Array, MixedStep, Reorder, State, Step


@dataclass(frozen=True, slots=True)
class BranchState:
    """The model's state of both branches, and alpha of each example."""

    model: State
    alphas: tuple[float, ...]


class TwoBranches:
    def __init__(
        self,
        step: Step,
        alphas: Mapping[int, float],
        *,
        reorder: Reorder = take_rows,
        mixed_step: MixedStep | None = None,
    ):
        """A model's step and `reorder`, and alpha by strategy token (see `AlphaTable.by_token`).

        `mixed_step`: the same step, if it can mix. Its logits must be finite: nothing times infinity is no number.
        """
        self.alphas = dict(alphas)
        self._step, self._mixed_step, self._reorder = step, mixed_step, reorder

    def begin(self, state: State, start: Array) -> BranchState:
        """`state`: the model's, of 2B interleaved rows; `start` [B]: the first tokens, as every search gets them."""
        return BranchState(state, (0.0,) * start.shape[0])

    def step(self, tokens: Array, state: BranchState) -> tuple[Array, BranchState]:
        """The logits of equation 6 [B, V] after one more token [B]."""
        xp = array_namespace(tokens)
        alphas = tuple(self.alphas.get(new, old) for new, old in zip(ints(tokens), state.alphas, strict=True))
        both = xp.repeat(tokens, 2)
        if self._mixed_step is not None:
            mixed, model = self._mixed_step(both, state.model, branch_weights(alphas))
            return mixed, BranchState(model, alphas)
        logits, model = self._step(both, state.model)
        return contrasted(logits[0::2], logits[1::2], alphas), BranchState(model, alphas)

    def reorder(self, state: BranchState, rows: Sequence[int]) -> BranchState:
        both = [branch for row in rows for branch in (2 * row, 2 * row + 1)]
        return BranchState(self._reorder(state.model, both), tuple(state.alphas[row] for row in rows))


def branch_weights(alphas: Sequence[float]) -> npt.NDArray[np.float32]:
    """Equation 6 as weights [B, 2B] of interleaved rows: 1 + alpha with persona, -alpha without."""
    found = np.zeros((len(alphas), 2 * len(alphas)), np.float32)
    for row, alpha in enumerate(alphas):
        found[row, 2 * row : 2 * row + 2] = 1 + alpha, -alpha
    return found


def contrasted(with_persona: Array, without: Array, alphas: Sequence[float]) -> Array:
    """(1 + alpha) with - alpha without, for logits [B, V]. What either branch rules out (-inf) is left as the branch
    with persona has it: two infinities have no difference."""
    xp = array_namespace(with_persona)
    alpha = xp.asarray(alphas, dtype=with_persona.dtype, device=device(with_persona))[:, None]
    both = xp.isfinite(with_persona) & xp.isfinite(without)
    if xp.all(both):  # as in nearly every step
        return (1 + alpha) * with_persona - alpha * without
    other = xp.where(both, without, xp.zeros_like(without))
    return xp.where(both, (1 + alpha) * with_persona - alpha * other, with_persona)


def interleaved(with_persona: tuple[Array, ...], without: tuple[Array, ...]) -> tuple[Array, ...]:
    """Two states of B rows as one of 2B, for models that read the two branches one after the other."""

    def pair(first: Array, second: Array) -> Array:
        xp = array_namespace(first)
        return xp.reshape(xp.stack([first, second], axis=1), (2 * first.shape[0], *first.shape[1:]))

    return tuple(pair(*parts) for parts in zip(with_persona, without, strict=True))
