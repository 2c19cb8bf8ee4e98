"""Replies in character, for a listener that was given a persona."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np

from allears.listener.contract import IN_CHARACTER, Proposed, Request
from allears.listener.personas import lines_in_character
from allears.listener.pool import open_index
from allears.listener.proposers import PoolProposer
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.selector import CandidateStates

NEAREST = 60  # of a few hundred

_NOTHING = Proposed(
    (),
    CandidateStates(np.zeros((0, 1), np.float32), np.zeros((0, 1), np.float16), np.zeros(1, np.int64)),
    np.zeros(0, np.int64),
)


class PersonaProposer:
    """Proposes nothing until somebody gives the listener a persona; only then its lines are encoded."""

    def __init__(self, selector: OnnxSelector, folder: Path | None = None):
        self._selector, self._folder = selector, folder
        self._pool: PoolProposer | None = None
        self._opening = threading.Lock()

    def propose(self, request: Request) -> Proposed:
        if not request.listener:
            return _NOTHING
        with self._opening:
            if self._pool is None:
                index = open_index(lines_in_character(), self._selector, folder=self._folder)
                self._pool = PoolProposer(index, count=NEAREST)
        # what fits the persona; whether it also fits what was said is for the ranking to find out
        persona = request.encoded.personas[0]
        asked = replace(request, encoded=replace(request.encoded, vectors=persona.vector[None]))
        found = self._pool.propose(asked)
        proposals = (replace(proposal, source=IN_CHARACTER) for proposal in found.proposals)
        return replace(found, proposals=tuple(proposals))
