"""Which proposal is said: CoBERT's score, moved by what a score cannot know.

adjusted = w z(score) + strategy + emotion + stage - presumption - repetition - length

z is the score's distance from the mean of all proposals in standard deviations, so that the other parts have the same
weight whatever scale a model's scores have. Every part that moved a proposal is noted beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allears.conversation import Role, Turn
from allears.labels import POLARITY_OF
from allears.listener.contract import (
    ANSWERED,
    IN_CHARACTER,
    OCCASION,
    PLAIN,
    POOL,
    REFLECTION,
    SMALL_VOICES,
    TO_US,
    TURN_OF_TALK,
    Likely,
    Proposal,
    Ranked,
)
from allears.listener.pool import ANY
from allears.listener.stages import positive
from allears.listener.trust import Doubt
from allears.listener.unfit import asks_for_what_was_told
from allears.listener.wording import (
    claims,
    denied,
    denies,
    done,
    hears_first,
    implied,
    opening,
    overlap,
    particular,
    presumed,
    spans,
    stated,
    stems,
    telling,
    tells_not,
    tells_you,
    times,
    words,
)
from allears.runtime.bundle import BundleCard

_TWO = (("dog", "cat"), ("mum", "dad"), ("grandma", "grandpa"))
TELLING = (
    "Restatement or Paraphrasing",
    "Reflection of feelings",
)  # strategies that tell the person about themselves
UNASKED = ("Affirmation and Reassurance", "Providing Suggestions", "Information", "Self-disclosure")
# Nobody is told of a death that was not spoken of; the second words speak of one, too.
DEATH = stems(["died dies dying dead death funeral buried bury widow widowed widower"])
OF_DEATH = DEATH | stems(["lost loss passed gone grief grieve grieving mourn mourning grave goodbye missing"])
# How far a reply may be off the mood: to cheer somebody sad is worse than to comfort somebody glad.
CHEERS, COMFORTS = 0.35, 0.5
DOUBT = Doubt()
FITS = 1.5  # standard deviations from which a reply is the listener's own persona through and through
SURE = 3.0  # log-odds beyond which no answer is thought more likely to fit
OTHER_OF = {one: other for pair in _TWO for one, other in (pair, pair[::-1])}


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part counts."""

    score: float = 1.3  # for each standard deviation
    strategy: float = 0.9
    emotion: float = 1.0
    against_mood: float = 2.5  # comfort for the happy, joy for the sad
    stage: float = 0.6
    presumed: float = 1.6  # for each thing a reply speaks of that nobody mentioned
    mistaken: float = 4.0  # if it is the other of two: a cat for somebody who spoke of a dog
    far: float = 0.35  # for each further word that has not come up, in a question
    unasked: float = 0.8  # for each such word in advice or comfort
    claimed: float = 0.9  # for each such word in a reply that tells the person how things are with them
    mentioned: float = 0.3  # for each word of the last turns it takes up, at most two
    named: float = (
        0.6  # and more if it names a person, a thing or an event: that is what the person is there for
    )
    repeated: float = 4.0  # said already, or nearly
    answered: float = 4.0  # if it asks for what the person has just told
    same_thing: float = 0.5  # for each word it shares with our last replies that the person did not take up
    same_opening: float = 0.5
    hears_first: float = 0.5  # a question that begins with what was heard
    unheard: float = 1.5  # a question or praise that tells what was not said, by the share of such words
    denied: float = 2.0  # if it says that something is not so, and the person did not
    short: float = 0.4  # a very short reply to somebody who told a lot
    own_persona: float = 0.4  # for each standard deviation in which it fits the listener's own persona
    in_character: float = 3.5  # if it was written for such a persona and for such a mood
    said_back: float = (
        3.1  # if it says back what was said: that always fits, and is for when little else does
    )
    to_us: float = 20.0  # an answer to what was said to the listener itself: nothing else is one
    occasion: float = 6.2  # an answer that was written for what was told
    turn_of_talk: float = 4.2  # or for such a turn of any talk
    answered_before: float = 2.9  # an answer to a message like this one, if it is as likely to fit as not
    likely: float = 2.2  # and for each unit of log-odds above that, up to `SURE`
    plain: float = 2.8  # what plain words are worth, against all that is found or written
    found: float = (
        1.2  # what a reply of the pool costs, which was written for whom it fits and not for this person
    )
    doubtful: float = 3.0  # if `trust.Doubt` is above 0, for a reply from the pool
    doubted: float = 3.0  # and for each unit of it
    unread: float = (
        5.5  # if a small model wrote it a moment ago: most of what those write is not as good as it scores
    )


@dataclass(frozen=True, slots=True)
class Moment:
    """What the ranking knows of the turn."""

    turns: tuple[Turn, ...]
    emotions: Likely
    strategies: Likely
    stage: str
    listener: tuple[str, ...] = ()  # the persona that the listener itself speaks with


def rank(
    proposals: Sequence[Proposal],
    scores: npt.NDArray[np.float32],
    moment: Moment,
    weights: Weights = Weights(),  # noqa: B008 - frozen
    own: npt.NDArray[np.float32] | None = None,
    near: npt.NDArray[np.float32] | None = None,
) -> list[Ranked]:
    """All proposals that were not said before, best first. Equal ones keep the order they came in.

    `own`: how well each fits the listener's own persona, by CoBERT's measure, where it has one. `near`: how near each
    is to the conversation, from -1 to 1, where the ranker can tell.
    """
    standard = _standard(scores)
    in_character = [0.0] * len(proposals) if own is None else np.clip(_standard(own), -FITS, FITS).tolist()
    known = _Known.of(moment)
    ranked = []
    nearness = [None] * len(proposals) if near is None else near.tolist()
    for proposal, score, value, character, close in zip(
        proposals, scores, standard, in_character, nearness, strict=True
    ):
        if proposal.text in known.said:
            continue
        if worth := _own_worth(proposal, weights):
            parts = [worth, *_repetition(proposal, known, weights)]
            if proposal.source == ANSWERED:
                parts += _strategy(proposal, known, weights.strategy / 2)
                parts += _taken_for_granted(proposal, known, known.everything, weights)
            total = 0.0  # it is said for what it is, not because it scores
        else:
            parts = _parts(proposal, known, weights)
            parts += _character(proposal, character, known, weights)
            parts += _doubted(proposal, close, known, weights)
            total = weights.score * float(value)
        total += sum(amount for _, amount in parts)
        notes = tuple(f"{name} {amount:+.2f}" for name, amount in parts if abs(amount) >= 0.005)
        ranked.append(Ranked(proposal, float(score), total, notes))
    return sorted(ranked, key=lambda item: -item.adjusted)


def _own_worth(proposal: Proposal, weights: Weights) -> tuple[str, float] | None:
    """What replies of some sources are worth whatever their score; None where the score decides."""
    if proposal.source == ANSWERED:
        likely = min(SURE, max(-SURE, proposal.likely or 0.0))
        return "a message like this was answered so", weights.answered_before + weights.likely * likely
    return {
        PLAIN: ("always fits", weights.plain),
        OCCASION: ("was written for this", weights.occasion),
        TURN_OF_TALK: ("was written for such a turn", weights.turn_of_talk),
        TO_US: ("was said to me", weights.to_us),
    }.get(proposal.source)


def highest_score(card: BundleCard, *, persona: bool) -> float:
    """What a ranker that compares by cosine could give at most for a query; 0 where there is no such bound."""
    if card.options.get("similarity") != "cosine":
        return 0.0
    return float(sum(card.weights.context) + (sum(card.weights.persona) if persona else 0))


def _standard(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Each score's distance from the mean, in standard deviations."""
    found: npt.NDArray[np.float32] = (scores - scores.mean()) / (float(scores.std()) or 1.0)
    return found


@dataclass(frozen=True, slots=True)
class _Known:
    """What all proposals of a moment are held against, found once for all of them."""

    stage: str
    strategies: Mapping[str, float]
    best_strategy: float
    emotions: Mapping[str, float]
    good: float  # how likely what was said is something good
    said: tuple[str, ...]  # by us
    everything: frozenset[str]  # stems of all that was said
    heard: tuple[str, ...]  # from the person, in small letters
    told: tuple[str, ...]  # the person's last turns
    told_words: int  # of the last one
    denies: bool  # whether they say there that something is not so
    denied: frozenset[str]  # stems of what they say there that they did not do
    lately: frozenset[str]  # stems of those
    our_last: frozenset[str]  # of our last replies, without what the person took up
    openings: frozenset[tuple[str, ...]]
    told_a_lot: bool

    @classmethod
    def of(cls, moment: Moment) -> _Known:
        heard = [turn.text for turn in moment.turns if turn.speaker is Role.SEEKER]
        said = tuple(turn.text for turn in moment.turns if turn.speaker is Role.SUPPORTER)
        lately = stems(heard[-2:])
        everything = stems((*(turn.text for turn in moment.turns), *moment.listener))
        return cls(
            moment.stage,
            dict(moment.strategies),
            max((chance for _, chance in moment.strategies), default=0.0),
            dict(moment.emotions),
            positive(moment.emotions),
            said,
            everything | implied(everything),
            tuple(text.lower() for text in heard),
            tuple(heard[-2:]),
            len(words(heard[-1])) if heard else 0,
            denies(heard[-2:]),
            denied(heard[-2:]),
            lately,
            stems(said[-3:]) - lately,
            frozenset(opening(text) for text in said[-4:]),
            bool(heard) and len(heard[-1].split()) > 20,
        )

    def never_named(self, times: frozenset[str]) -> bool:
        """Whether a time is among them that the person did not name."""
        return any(all(each not in text for text in self.heard) for each in times)


def _parts(proposal: Proposal, known: _Known, weights: Weights) -> list[tuple[str, float]]:
    parts = _strategy(proposal, known, weights.strategy)
    parts += _mood(proposal, known, weights)
    parts += [("nobody has read it", -weights.unread)] if proposal.source in SMALL_VOICES else []
    if proposal.stage and proposal.stage != known.stage:
        apart = {proposal.stage, known.stage} & {"opening", "ending"}
        parts.append((f"for the {proposal.stage} stage", -weights.stage * (6 if apart else 1)))
    mentioned = known.everything
    if (
        proposal.source == IN_CHARACTER
    ):  # its pictures are the listener's own; nobody is presumed to have a boat
        mentioned |= stems([proposal.text])
    parts += _presumed(proposal, mentioned, known, weights)
    own = telling(proposal.text)
    strange = own - mentioned - presumed(proposal.text, mentioned)
    parts += _far(proposal, strange, weights)
    parts += _taken_for_granted(proposal, known, mentioned, weights)
    if proposal.source == REFLECTION:
        parts.append(("says it back", -weights.said_back))
    taken_up = own & known.lately
    if taken_up and proposal.source != REFLECTION:
        named = particular(proposal.text) & taken_up
        worth = weights.mentioned * min(2, len(taken_up)) + weights.named * min(2, len(named))
        parts.append((f"takes up {', '.join(sorted(taken_up))}", worth))
    parts += _repetition(proposal, known, weights)
    if proposal.strategy == "Question" and known.stage == "exploration" and hears_first(proposal.text):
        heard = proposal.source == REFLECTION or _unheard(proposal, mentioned) <= 0.5
        parts += [("hears first", weights.hears_first)] if heard else []
    if known.told_a_lot and len(proposal.text.split()) < 7:
        parts.append(("short for so much told", -weights.short))
    return parts


def _strategy(proposal: Proposal, known: _Known, weight: float) -> list[tuple[str, float]]:
    if not proposal.strategy:
        return []
    chance = known.strategies.get(proposal.strategy, 0.0)
    share = math.log((chance + 0.02) / (known.best_strategy + 0.02))
    return [(f"strategy {proposal.strategy}", weight * share)]


def _presumed(
    proposal: Proposal, mentioned: frozenset[str], known: _Known, weights: Weights
) -> list[tuple[str, float]]:
    """Things it speaks of that nobody mentioned."""
    parts = []
    new = presumed(proposal.text, mentioned)
    if new:
        told = new if proposal.strategy != "Question" else presumed(stated(proposal.text), mentioned)
        cost = weights.presumed * min(3.0, len(told) + 0.5 * len(new - told))  # to ask is not to presume
        parts.append((f"nobody spoke of {', '.join(sorted(new))}", -cost))
        if any(OTHER_OF.get(word, "") in known.everything for word in new):
            parts.append(("takes one thing for another", -weights.mistaken))
    if telling(proposal.text) & DEATH and not mentioned & OF_DEATH:
        parts.append(("speaks of a death that nobody told of", -weights.mistaken))
    return parts


def _far(proposal: Proposal, strange: frozenset[str], weights: Weights) -> list[tuple[str, float]]:
    """`strange`: its words that have not come up. To ask with them is one thing, to tell a person is another."""
    claimed = strange if proposal.strategy in TELLING else frozenset()
    if proposal.strategy == "Question":
        claimed = strange & claims(proposal.text)
    if claimed:
        return [("tells what was not said", -weights.claimed * min(4, len(claimed)))]
    count = min(4, len(strange) - (proposal.strategy == "Question"))
    each = weights.unasked if proposal.strategy in UNASKED else weights.far
    return [("far from what was said", -each * count)] if count > 0 else []


def _taken_for_granted(
    proposal: Proposal, known: _Known, mentioned: frozenset[str], weights: Weights
) -> list[tuple[str, float]]:
    """What it tells the person about themselves without having heard it."""
    parts: list[tuple[str, float]] = []
    if known.never_named(times(proposal.text)):
        parts.append(("names a time that nobody named", -weights.presumed))
    if known.denied and known.denied & done(proposal.text):
        parts.append(("says what was denied", -weights.mistaken))
    if proposal.strategy not in UNASKED and known.never_named(spans(proposal.text)):
        parts.append(("says how long it was, and nobody did", -weights.mistaken))
    if proposal.source != REFLECTION and not known.denies and tells_not(proposal.text):
        parts.append(("says that something is not so", -weights.denied))
    if proposal.strategy in ("Question", "Affirmation and Reassurance") and proposal.source != REFLECTION:
        parts.append(("tells of what was not said", -weights.unheard * _unheard(proposal, mentioned)))
    return parts


def _unheard(proposal: Proposal, mentioned: frozenset[str]) -> float:
    """Of the words with which it tells the person about themselves, the share that has not come up."""
    told = tells_you(proposal.text)
    return len(told - mentioned) / len(told) if told else 0.0


def _doubted(
    proposal: Proposal, near: float | None, known: _Known, weights: Weights
) -> list[tuple[str, float]]:
    if near is None or proposal.source != POOL or known.stage in ("opening", "ending"):
        return []
    claimed = len(claims(proposal.text) - known.everything)
    doubt = DOUBT(near, known.told_words, len(words(proposal.text)), claimed)
    cost = weights.found + (weights.doubtful + weights.doubted * doubt if doubt > 0 else 0.0)
    return [("may be beside the point", -cost)]


def _repetition(proposal: Proposal, known: _Known, weights: Weights) -> list[tuple[str, float]]:
    parts: list[tuple[str, float]] = []
    alike = max((overlap(proposal.text, text) for text in known.said), default=0.0)
    if alike > 0.6:
        parts.append(("said before", -weights.repeated * alike))
    again = telling(proposal.text) & known.our_last
    if again:
        parts.append(("on the same thing as an earlier reply", -weights.same_thing * min(2, len(again))))
    if asks_for_what_was_told(proposal.text, known.told):
        parts.append(("asks for what was told", -weights.answered))
    if opening(proposal.text) in known.openings:
        parts.append(("begins like an earlier reply", -weights.same_opening))
    return parts


def _character(proposal: Proposal, fit: float, known: _Known, weights: Weights) -> list[tuple[str, float]]:
    """How a reply suits the listener's own persona; `fit` in standard deviations, cut at `FITS`."""
    parts = [("the listener's own persona", weights.own_persona * fit)]
    if proposal.source == IN_CHARACTER:
        own = [emotion for emotion in proposal.emotions if emotion != ANY]
        mood = min(1.0, 2 * sum(known.emotions.get(emotion, 0.0) for emotion in own)) if own else 0.4
        share = 2 * fit / FITS - 1  # written for another persona, it is out of character
        parts.append(("in character", weights.in_character * share * (mood if share > 0 else 1)))
    return parts


def _mood(proposal: Proposal, known: _Known, weights: Weights) -> list[tuple[str, float]]:
    """A reply's own emotions against those that were read."""
    own = [emotion for emotion in proposal.emotions if emotion != ANY]
    if not own or not known.emotions:
        return []
    fit = sum(known.emotions.get(emotion, 0.0) for emotion in own)
    parts = [("emotion", weights.emotion * min(1.0, 2 * fit))]
    bright = sum(POLARITY_OF[emotion] == "positive" for emotion in own) / len(own)
    against = abs(bright - known.good) - (CHEERS if bright > known.good else COMFORTS)
    if against > 0:
        parts.append(("against the mood", -weights.against_mood * 2 * against))
    return parts
