"""Which of the ranked proposals is said: each once, the wished strategy first, and by the seed among near equals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from allears.errors import AllearsError
from allears.listener.contract import Proposed, Ranked
from allears.safety.review import review


def without_doubles(proposed: Sequence[Proposed]) -> list[Proposed]:
    """Each proposal once, where it came first."""
    seen: set[str] = set()
    kept = []
    for part in proposed:
        new = [place for place, proposal in enumerate(part.proposals) if proposal.text not in seen]
        seen |= {proposal.text for proposal in part.proposals}
        if new:
            kept.append(
                Proposed(tuple(part.proposals[place] for place in new), part.states, part.chosen[new])
            )
    return kept


def in_order(ranked: list[Ranked], strategy: str, seed: int) -> list[Ranked]:
    """The order in which they are tried.

    With a wish, replies of that strategy come first; the others stay behind them, should the review refuse those.
    """
    first = [item for item in ranked if item.proposal.strategy == strategy] if strategy else []
    if not first:
        return _pick(ranked, seed)
    return [*_pick(first, seed), *(item for item in ranked if item.proposal.strategy != strategy)]


def _pick(ranked: list[Ranked], seed: int) -> list[Ranked]:
    """Seed 0 says the best. Any other draws among those that are nearly as good, always the same for the same seed."""
    near = [item for item in ranked[:8] if item.adjusted > ranked[0].adjusted - 0.5]
    if not seed or len(near) < 2:
        return ranked
    chosen = near[int(np.random.default_rng(seed).integers(len(near)))]
    return [chosen, *(item for item in ranked if item is not chosen)]


def reviewed(ranked: Sequence[Ranked]) -> tuple[list[Ranked], list[str]]:
    """The proposals from the first that our own review lets through, and what it refused."""
    refused: list[str] = []
    for position, item in enumerate(ranked):
        found = review(item.proposal.text)
        if found.ok:
            return list(ranked[position:]), refused
        refused.append(f"{item.proposal.text} ({'; '.join(found.reasons)})")
    raise AllearsError("every proposed reply was refused by the review; add replies to the pool")
