"""Replies that a voice writes for the moment, beside those of the pool: a few strategies, each in a sample of its own.

What the voice wrote is a proposal like any other: CoBERT ranks it, and what the ranking charges is charged. But nobody
has read it before, so it goes through more: it must be whole sentences, no echo, no loop, and pass the review of our
own words before it is ranked at all. A voice that fails (a dead endpoint) costs the turn nothing but its proposals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from allears.conversation import Role
from allears.errors import AllearsError
from allears.generation.contract import Generated, Prompt
from allears.generation.decoding import PAL_ALPHAS
from allears.listener.contract import Proposal, Proposed, Request
from allears.listener.safety.review import review
from allears.listener.voices import Voice
from allears.listener.wording import words
from allears.selection.runtime import OnnxSelector
from allears.selection.selector import CandidateStates

# A program has no life of its own to speak of: whatever it wrote there would be untrue.
NEVER_ASKED_FOR = frozenset({"Self-disclosure"})
WORTH = 0.3  # of the likeliest strategy's chance; rarer ones give way to a second try at the likeliest
FEWEST_WORDS = 3
LOOP = 4  # words in a row that may not come twice
ECHO = 0.5  # of all such rows: more from the person's own mouth, and they only hear themselves
_SENTENCE = re.compile(r".*?[.!?…][\"'”’)]*(?=\s|$)", re.DOTALL)
_QUESTION = re.compile(
    r"(what|who|whom|whose|which|where|when|why|how|do|does|did|is|are|was|were|have|has|had|can|could|will|would|shall"
    r"|should|may|might|don't|doesn't|didn't|isn't|aren't|haven't|can't|couldn't|won't|wouldn't|shouldn't)\b"
    r"(?! (a|an) )",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"\W*(hi|hello|hey|hiya|welcome|greetings|good (morning|afternoon|evening))\b|\W*(how are you|how may i help)\b",
    re.IGNORECASE,
)
_NOTHING = Proposed(
    (),
    CandidateStates(np.zeros((0, 1), np.float32), np.zeros((0, 1), np.float16), np.zeros(1, np.int64)),
    np.zeros(0, np.int64),
)


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a voice proposed for one turn, what of it cannot be said and why, and what went wrong with the voice."""

    proposed: Proposed = _NOTHING
    refused: tuple[str, ...] = ()
    trouble: str = ""


class Speaker:
    """Asks a voice. The same turn and seed give the same proposals, whoever else is answered at the same time."""

    def __init__(self, voice: Voice, selector: OnnxSelector | None = None):
        """Without the `selector` it can `write`, but nothing can be ranked."""
        self.voice, self.selector = voice, selector

    @property
    def takes_alpha(self) -> bool:
        """Whether a wish for PAL's alpha changes anything."""
        return bool(getattr(self.voice.generator, "has_branches", False))

    def speak(self, requests: Sequence[Request]) -> list[Spoken]:
        """A turn's proposals are written together, and those of all turns encoded together."""
        if self.voice.generator is None:
            return [Spoken() for _ in requests]
        written = [self.write(request) for request in requests]
        texts = list(dict.fromkeys(proposal.text for each in written for proposal in each.proposed.proposals))
        if not texts:
            return written
        assert self.selector is not None
        states, place = self.selector.encode_responses(texts), {text: row for row, text in enumerate(texts)}
        found = []
        for each in written:
            chosen = np.array([place[proposal.text] for proposal in each.proposed.proposals], np.int64)
            found.append(replace(each, proposed=replace(each.proposed, states=states, chosen=chosen)))
        return found

    def write(self, request: Request) -> Spoken:
        """The proposals of one turn, not encoded yet."""
        strategies = chosen_strategies(request, self.voice.count)
        persona = tuple(sentence.text for sentence in request.persona.sentences)
        prompts = [Prompt(request.turns, persona, strategy, request.listener) for strategy in strategies]
        seeds = [_seed(request, number) for number in range(len(prompts))]
        alpha = request.wish.alpha if self.takes_alpha else None
        alphas = None if alpha is None else PAL_ALPHAS.all(alpha)
        assert self.voice.generator is not None
        try:
            found = self.voice.generator.generate(prompts, self.voice.settings, seeds, alphas=alphas)
        except AllearsError as error:
            return Spoken(trouble=str(error))
        kept: dict[str, Proposal] = {}
        refused: list[str] = []
        for generated in (texts[0] for texts in found):
            text = whole_sentences(generated)
            reason = cannot_be_said(text, request)
            if reason:
                refused.append(f"{text or generated.text} ({reason})")
            else:
                feeling = tuple(name for name, _ in request.emotions[:1])  # what it was written for
                kept.setdefault(text, Proposal(text, self.voice.name, generated.strategy, feeling))
        return Spoken(replace(_NOTHING, proposals=tuple(kept.values())), tuple(refused))


def chosen_strategies(request: Request, count: int) -> list[str | None]:
    """The likeliest strategies, as far as they are nearly as likely; the first again and again for what is left.

    A wish is all of them; where nothing is known, the voice chooses.
    """
    if request.wish.strategy:
        return [request.wish.strategy] * count
    likely = [(name, chance) for name, chance in request.strategies if name not in NEVER_ASKED_FOR]
    if not likely:
        return [None] * count
    fitting = [name for name, chance in likely if chance >= WORTH * likely[0][1]][:count]
    return [*fitting, *([fitting[0]] * (count - len(fitting)))]


def whole_sentences(generated: Generated) -> str:
    """Without the sentence that was broken off at its end; one that only lacks its last mark gets it."""
    text = generated.text.strip()
    sentences = [match[0].strip() for match in _SENTENCE.finditer(text)]
    rest = text[sum(len(match[0]) for match in _SENTENCE.finditer(text)) :].strip()
    if rest and not generated.cut:
        bare = rest.rstrip(",;:-–— ")
        sentences.append(f"{bare}{'?' if _QUESTION.match(bare) else '.'}")
    return " ".join(sentences)


def cannot_be_said(text: str, request: Request) -> str:
    """Why a text that nobody has read is no reply here, or nothing."""
    said = words(text)
    if not text:
        return "broken off"
    if len(said) < FEWEST_WORDS:
        return "too short"
    runs = _runs(said)
    if len(set(runs)) < len(runs):
        return "goes round in circles"
    heard = {run for turn in request.turns if turn.speaker is Role.SEEKER for run in _runs(words(turn.text))}
    if runs and sum(run in heard for run in runs) > ECHO * len(runs):
        return "an echo"
    return "; ".join(review(text).reasons)


def greets(text: str) -> bool:
    """Whether a reply begins as if nothing had been said yet."""
    return bool(_GREETING.match(text))


def _runs(said: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(said[place : place + LOOP]) for place in range(len(said) - LOOP + 1)]


def _seed(request: Request, number: int) -> int:
    """Of the turn as well as of the person's seed: the next turn draws other chances."""
    return int(np.random.SeedSequence((request.seed, len(request.turns), number)).generate_state(1)[0])
