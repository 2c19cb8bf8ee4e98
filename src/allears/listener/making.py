"""Proposes what is made or chosen for this very turn, beside what a pool's search finds.

What was said to the listener itself has answers of its own (`answering`); so have things that many people tell
(`occasions`) and messages like one that was answered beforehand (`answered`). What was said can be said back, or heard
in a few plain words (`reflecting`). All of it is encoded in one go.
"""

from __future__ import annotations

from collections.abc import Sequence

from allears.listener import answering, occasions
from allears.listener.answered.proposer import AnsweredProposer
from allears.listener.contract import Likely, Proposal, Proposed, Request
from allears.listener.proposers import encoded
from allears.listener.reflecting import felt_for, reflections
from allears.listener.stages import positive
from allears.runtime.onnx_encoder import EncodedText
from allears.runtime.onnx_selector import OnnxSelector


class MakingProposer:
    """`occasions`: whether what ships for them is used; `answered`: who knows answered messages."""

    def __init__(
        self, selector: OnnxSelector, *, occasions: bool = True, answered: AnsweredProposer | None = None
    ):
        self.selector, self.occasions, self.answered = selector, occasions, answered

    def propose(self, request: Request, texts: Sequence[EncodedText], read: Likely) -> Proposed | None:
        """`texts`: the conversation and the last message, as the encoder saw them; `read`: what was read in the
        last."""
        return encoded(self.proposals(request, texts, read), self.selector)

    def proposals(self, request: Request, texts: Sequence[EncodedText], read: Likely) -> list[Proposal]:
        turns, good = request.turns, positive(request.emotions)
        in_character = bool(
            request.listener
        )  # one with a persona of its own speaks so, and not as anybody would
        alike: list[Proposal] = []
        known: list[Proposal] = []
        if self.answered is not None:
            nearness = self.answered.nearness(texts)
            good = (good + self.answered.good(nearness)) / 2
            alike = [] if in_character else self.answered.answers(request, nearness, good)
        if self.occasions and not in_character:
            known = occasions.answers(turns, request.stage, good, request.seed)
        said_back: list[Proposal] = []
        if not known:
            felt = felt_for(read, request.emotions, good)
            said_back = reflections(turns, felt, request.stage, request.seed)
        to_us = answering.answers(turns[-1].text, request.seed, len(turns))
        return [*said_back, *to_us, *known, *alike]
