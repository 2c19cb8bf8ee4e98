"""How well a draft fits its place: CoBERT's score, of the conversation and of the last message.

It tells good drafts from those that are off about two times in three. Learning from readers' marks on top of the same
encoder was tried several ways and was no better than chance on a voice's own drafts (docs/listener.md), so nothing is
learned here yet.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from allears.conversation import Turn
from allears.runtime.onnx_selector import OnnxSelector, StateComparison
from allears.runtime.selector import Query

CONTEXT_TURNS = 6


class CobertScorer:
    """Scores replies with the ranker itself; nothing else is opened."""

    def __init__(self, selector: OnnxSelector):
        self.selector = selector

    def score(self, turns: Sequence[Turn], known: Sequence[str], replies: Sequence[str]) -> list[float]:
        """Each reply at the end of `turns`, higher is better; `known` is what is known of the person from before."""
        if not replies:
            return []
        latest = tuple(Turn(turn.speaker, turn.text) for turn in turns[-CONTEXT_TURNS:])
        queries = [Query(latest, tuple(known)), Query(latest[-1:])]
        encoded = self.selector.encode_queries(queries, self.selector.encode_contexts(queries))
        states = self.selector.encode_responses(list(replies))
        (scores,) = self.selector.compare([StateComparison(encoded, states, np.arange(len(replies)))])
        return [float(each) for each in scores.mean(axis=0)]
