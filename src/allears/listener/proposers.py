"""Who proposes replies. The pool's search comes first; generators join through the same protocol."""

from __future__ import annotations

from allears.listener.contract import Proposed, Request
from allears.listener.pool import proposal
from allears.selection.index import CandidateIndex

FIRST_STAGE = 100  # nearest replies by their vectors that are compared word by word


class PoolProposer:
    """The replies of an index that lie nearest to what was said."""

    def __init__(self, index: CandidateIndex, *, count: int = FIRST_STAGE):
        self.index, self.count = index, count

    def propose(self, request: Request) -> Proposed:
        positions, _ = self.index.nearest(
            request.encoded.vectors, min(self.count, len(self.index)), exact=True
        )
        found = (self.index.reader.candidate(int(position)) for position in positions[0])
        return Proposed(
            tuple(proposal(each.text, each.tags) for each in found), self.index.reader.states, positions[0]
        )
