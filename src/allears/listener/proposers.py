"""Who proposes replies. The pool's search comes first; generators join through the same protocol."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from allears.listener.contract import Proposal, Proposed, Request
from allears.listener.pool import proposal
from allears.runtime.index import CandidateIndex
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.selector import Indices

FIRST_STAGE = 100  # nearest replies by their vectors that are compared word by word


def encoded(proposals: Sequence[Proposal], selector: OnnxSelector) -> Proposed | None:
    """Proposals that were made for this very turn; nothing, if there are none."""
    if not proposals:
        return None
    states = selector.encode_responses([each.text for each in proposals])
    return Proposed(tuple(proposals), states, np.arange(len(proposals)))


class PoolProposer:
    """The replies of an index that lie nearest to what was said."""

    def __init__(self, index: CandidateIndex, *, count: int = FIRST_STAGE):
        self.index, self.count = index, count
        self._reader = index.reader
        self._read: dict[int, Proposal] = {}  # by position: what was proposed once need not be parsed again

    def propose(self, request: Request) -> Proposed:
        chosen = self._nearest(request, min(self.count, len(self.index)))
        if request.wish.strategy:
            wished = self._wished(request, request.wish.strategy)
            chosen = wished if len(wished) else chosen
        return Proposed(tuple(map(self._proposal, chosen.tolist())), self.index.reader.states, chosen)

    def _nearest(self, request: Request, count: int) -> Indices:
        positions, _ = self.index.nearest(request.encoded.vectors, count, exact=True)
        nearest: Indices = positions[0]
        return nearest

    def _wished(self, request: Request, strategy: str) -> Indices:
        """The nearest replies of one strategy, of which there may be none among the nearest of all."""
        everything = self._nearest(request, len(self.index))
        fits = [self._proposal(int(position)).strategy == strategy for position in everything]
        wished: Indices = everything[fits][: self.count]
        return wished

    def _proposal(self, position: int) -> Proposal:
        if self._reader is not self.index.reader:  # replies were added or removed, and positions moved
            self._reader, self._read = self.index.reader, {}
        found = self._read.get(position)
        if found is None:
            candidate = self._reader.candidate(position)
            found = self._read[position] = proposal(candidate.text, candidate.tags)
        return found
