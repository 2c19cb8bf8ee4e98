"""Which proposal is said: CoBERT's score, moved by what a score cannot know.

adjusted = w z(score) + strategy + emotion + stage - presumption - repetition - length

z is the score's distance from the mean of all proposals in standard deviations, so that the other parts have the same
weight whatever scale a model's scores have. Every part that moved a proposal is noted beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allears.conversation import Role, Turn
from allears.listener.contract import Likely, Proposal, Ranked
from allears.listener.pool import ANY
from allears.listener.stages import positive
from allears.listener.wording import opening, overlap, presumed, stems, telling
from allears.understanding.labels import POLARITY_OF


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part counts."""

    score: float = 1.3  # for each standard deviation
    strategy: float = 0.9
    emotion: float = 1.0
    against_mood: float = 2.0  # comfort for the happy, joy for the sad
    stage: float = 0.6
    presumed: float = 1.6  # for each thing a reply speaks of that nobody mentioned
    far: float = 0.25  # for each further word that has not come up
    mentioned: float = 0.3  # for each word of the last turns it takes up, at most two
    repeated: float = 4.0  # said already, or nearly
    same_thing: float = 0.5  # for each word it shares with our last replies that the person did not take up
    same_opening: float = 0.5
    short: float = 0.4  # a very short reply to somebody who told a lot


@dataclass(frozen=True, slots=True)
class Moment:
    """What the ranking knows of the turn."""

    turns: tuple[Turn, ...]
    emotions: Likely
    strategies: Likely
    stage: str


def rank(
    proposals: Sequence[Proposal],
    scores: npt.NDArray[np.float32],
    moment: Moment,
    weights: Weights = Weights(),  # noqa: B008 - frozen
) -> list[Ranked]:
    """All proposals that were not said before, best first. Equal ones keep the order they came in."""
    spread = float(scores.std()) or 1.0
    standard = (scores - scores.mean()) / spread
    heard = [turn.text for turn in moment.turns if turn.speaker is Role.SEEKER]
    said = [turn.text for turn in moment.turns if turn.speaker is Role.SUPPORTER]
    known = stems(turn.text for turn in moment.turns)
    lately = stems(heard[-2:])
    ranked = []
    for proposal, score, value in zip(proposals, scores, standard, strict=True):
        if proposal.text in said:
            continue
        parts = _parts(proposal, moment, heard, said, known, lately, weights)
        total = weights.score * float(value) + sum(amount for _, amount in parts)
        notes = tuple(f"{name} {amount:+.2f}" for name, amount in parts if abs(amount) >= 0.005)
        ranked.append(Ranked(proposal, float(score), total, notes))
    return sorted(ranked, key=lambda item: -item.adjusted)


def _parts(
    proposal: Proposal,
    moment: Moment,
    heard: Sequence[str],
    said: Sequence[str],
    known: frozenset[str],
    lately: frozenset[str],
    weights: Weights,
) -> list[tuple[str, float]]:
    parts: list[tuple[str, float]] = []
    if proposal.strategy:
        best = max(chance for _, chance in moment.strategies)
        chance = dict(moment.strategies).get(proposal.strategy, 0.0)
        parts.append(
            (f"strategy {proposal.strategy}", weights.strategy * math.log((chance + 0.02) / (best + 0.02)))
        )
    parts += _mood(proposal, moment, weights)
    if proposal.stage and proposal.stage != moment.stage:
        apart = {proposal.stage, moment.stage} & {"opening", "ending"}
        parts.append((f"for the {proposal.stage} stage", -weights.stage * (6 if apart else 1)))
    new = presumed(proposal.text, known)
    if new:
        cost = weights.presumed * (0.5 if proposal.text.endswith("?") else 1.0)
        parts.append((f"nobody spoke of {', '.join(sorted(new))}", -cost * min(3, len(new))))
    strange = telling(proposal.text) - known - new
    if len(strange) > 1:
        parts.append(("far from what was said", -weights.far * min(4, len(strange) - 1)))
    taken_up = telling(proposal.text) & lately
    if taken_up:
        parts.append((f"takes up {', '.join(sorted(taken_up))}", weights.mentioned * min(2, len(taken_up))))
    alike = max((overlap(proposal.text, text) for text in said), default=0.0)
    if alike > 0.6:
        parts.append(("said before", -weights.repeated * alike))
    again = telling(proposal.text) & stems(said[-3:]) - lately
    if again:
        parts.append(("on the same thing as an earlier reply", -weights.same_thing * min(2, len(again))))
    if said and opening(proposal.text) in {opening(text) for text in said[-4:]}:
        parts.append(("begins like an earlier reply", -weights.same_opening))
    if len(proposal.text.split()) < 7 and heard and len(heard[-1].split()) > 20:
        parts.append(("short for so much told", -weights.short))
    return parts


def _mood(proposal: Proposal, moment: Moment, weights: Weights) -> list[tuple[str, float]]:
    """A reply's own emotions against those that were read."""
    own = [emotion for emotion in proposal.emotions if emotion != ANY]
    if not own or not moment.emotions:
        return []
    chances = dict(moment.emotions)
    fit = sum(chances.get(emotion, 0.0) for emotion in own)
    parts = [("emotion", weights.emotion * min(1.0, 2 * fit))]
    good = positive(moment.emotions)
    bright = sum(POLARITY_OF[emotion] == "positive" for emotion in own) / len(own)
    against = abs(bright - good) - 0.5
    if against > 0:
        parts.append(("against the mood", -weights.against_mood * 2 * against))
    return parts
