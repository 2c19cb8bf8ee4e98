"""Chooses among replies that were written beforehand, by CoBERT: PEC's task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.listener.contract import Proposed, Ranked
from allears.runtime.onnx_selector import EncodedQueries, OnnxSelector, StateComparison
from allears.safety.review import review

OWN = 2  # among a turn's queries: the last message, with the persona that the listener itself speaks with
OWN_WEIGHT = 8.0  # of fitting the listener's own persona: its scores are spread a third as far as the others
NEAR = 0.1  # candidates this close to the best may be another answer


def rank(
    proposed: Sequence[Proposed],
    encoded: EncodedQueries,
    selector: OnnxSelector,
    turns: Sequence[Turn],
) -> list[Ranked]:
    """All candidates of a turn that were not said before, the best first."""
    proposals = [proposal for part in proposed for proposal in part.proposals]
    compared = selector.compare([StateComparison(encoded, part.states, part.chosen) for part in proposed])
    scores = np.concatenate(compared, axis=1)
    worth = scores[:OWN].mean(axis=0)
    if (
        len(scores) > OWN
    ):  # its last query is the one before with the listener's persona: what lies between is that
        worth = worth + OWN_WEIGHT * (scores[OWN] - scores[OWN - 1])
    said = {turn.text for turn in turns if turn.speaker is Role.SUPPORTER}
    order = [
        place for place in np.argsort(-worth, kind="stable").tolist() if proposals[place].text not in said
    ]
    return [Ranked(proposals[place], float(worth[place]), float(worth[place])) for place in order]


def another(ranked: Sequence[Ranked], seed: int) -> list[Ranked]:
    """Seed 0 says the best. Any other draws among those that are nearly as good, the same for the same seed."""
    near = [item for item in ranked[:8] if item.adjusted > ranked[0].adjusted - NEAR]
    if not seed or len(near) < 2:
        return list(ranked)
    chosen = near[int(np.random.default_rng(seed).integers(len(near)))]
    return [chosen, *(item for item in ranked if item is not chosen)]


def reviewed(ranked: Sequence[Ranked]) -> tuple[list[Ranked], list[str]]:
    """The candidates from the first that our own review lets through, and what it refused."""
    refused: list[str] = []
    for position, item in enumerate(ranked):
        found = review(item.proposal.text)
        if found.ok:
            return list(ranked[position:]), refused
        refused.append(f"{item.proposal.text} ({'; '.join(found.reasons)})")
    raise AllearsError("every reply that was found was refused by the review; add cards with other replies")
