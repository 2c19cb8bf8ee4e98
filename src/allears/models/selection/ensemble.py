"""Several selection models as one: `runs/ed-cobert+runs/ed-cross-encoder`.

Each says how likely every candidate of a row is (a softmax over the row); the ensemble's score is the mean of the
logarithms. So models whose scores have different scales have an equal say.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from allears.errors import AllearsError
from allears.runtime.selector import Indices, Query, Scores, Selector


@dataclass(frozen=True, slots=True)
class EncodedByEach:
    """The same candidates, encoded by every member."""

    members: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.members[0])


class SelectorEnsemble:
    def __init__(self, members: Sequence[Selector]):
        if not members:
            raise AllearsError("an ensemble needs at least one model")
        self.members = tuple(members)
        joined = "+".join(member.fingerprint for member in members)
        self.fingerprint = hashlib.sha256(joined.encode()).hexdigest()[:16]

    def encode_responses(self, texts: Sequence[str]) -> EncodedByEach:
        return EncodedByEach(tuple(member.encode_responses(texts) for member in self.members))

    def score(self, queries: Sequence[Query], candidates: EncodedByEach, chosen: Indices) -> Scores:
        pairs = zip(self.members, candidates.members, strict=True)
        likely = [_log_softmax(member.score(queries, own, chosen)) for member, own in pairs]
        return np.mean(likely, axis=0, dtype=np.float32)


def _log_softmax(scores: Scores) -> Scores:
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
