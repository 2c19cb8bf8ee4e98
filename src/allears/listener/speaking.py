"""Replies that a voice writes for the moment, beside those of the pool: a few strategies, each in a sample of its own.

What the voice wrote is a proposal like any other: CoBERT ranks it, and what the ranking charges is charged. But nobody
has read it before, so it goes through more: it must be whole sentences, no echo, no loop, fit the moment (`unfit.py`)
and pass the review of our own words before it is ranked at all. A voice that fails (a dead endpoint) costs the turn
nothing but its proposals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from allears.conversation import Role
from allears.decoding import PAL_ALPHAS, AlphaTable
from allears.errors import AllearsError
from allears.listener.contract import Proposal, Proposed, Request
from allears.listener.unfit import unfit, without_greeting
from allears.listener.voices import Voice
from allears.listener.wording import words
from allears.runtime.generator import Generated, Prompt
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.selector import CandidateStates
from allears.safety.review import review

# A program has no life of its own to speak of: whatever it wrote there would be untrue. And a paraphrase must have
# understood: most of those that were read got it wrong ("So you are an uncle?").
NEVER_ASKED_FOR = frozenset({"Self-disclosure", "Restatement or Paraphrasing"})
QUESTION = "Question"
ROUNDS = 2  # where all was refused, it is tried once more with other chances
WORTH = 0.3  # of the likeliest strategy's chance; rarer ones give way to a second try at the likeliest
FEWEST_WORDS = 3
LOOP = 4  # words in a row that may not come twice
NEAR = 4  # words within which two in a row may not come again
ECHO = 0.5  # of all such rows: more from the person's own mouth, and they only hear themselves
_SENTENCE = re.compile(r".*?[.!?…][\"'”’)]*(?=\s|$)", re.DOTALL)
_QUESTION = re.compile(
    r"(what|who|whom|whose|which|where|when|why|how|do|does|did|is|are|was|were|have|has|had|can|could|will|would|shall"
    r"|should|may|might|don't|doesn't|didn't|isn't|aren't|haven't|can't|couldn't|won't|wouldn't|shouldn't)\b"
    r"(?! (a|an) )",
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
        assert self.voice.generator is not None
        strategies = chosen_strategies(request, self.voice.count, questions=self.voice.questions)
        persona = tuple(sentence.text for sentence in request.persona.sentences)
        prompts = [Prompt(request.turns, persona, strategy, request.listener) for strategy in strategies]
        alphas = self._alphas(request)
        kept: dict[str, Proposal] = {}
        refused: list[str] = []
        for attempt in range(ROUNDS):
            if kept:
                break
            seeds = [_seed(request, attempt * len(prompts) + number) for number in range(len(prompts))]
            try:
                found = self.voice.generator.generate(prompts, self.voice.settings, seeds, alphas=alphas)
            except AllearsError as error:
                return Spoken(refused=tuple(refused), trouble=str(error))
            for generated in (texts[0] for texts in found):
                text = without_greeting(whole_sentences(generated), request)
                reason = cannot_be_said(text, request) or unfit(text, generated.strategy, request)
                if reason:
                    refused.append(f"{text or generated.text} ({reason})")
                else:
                    feeling = tuple(name for name, _ in request.emotions[:1])  # what it was written for
                    kept.setdefault(text, Proposal(text, self.voice.name, generated.strategy, feeling))
        return Spoken(replace(_NOTHING, proposals=tuple(kept.values())), tuple(refused))

    def _alphas(self, request: Request) -> AlphaTable | None:
        """A wish before the voice's own; of no use to a voice that has no second branch."""
        if not self.takes_alpha:
            return None
        wished = request.wish.alpha
        return self.voice.alphas if wished is None else PAL_ALPHAS.all(wished)


def chosen_strategies(request: Request, count: int, *, questions: int | None = None) -> list[str | None]:
    """The likeliest strategies, as far as they are nearly as likely; the likeliest again and again for what is left.

    A wish is all of them; where nothing is known, the voice chooses. With `questions`, so many of them at most are
    questions, and those come last.
    """
    if request.wish.strategy:
        return [request.wish.strategy] * count
    likely = [(name, chance) for name, chance in request.strategies if name not in NEVER_ASKED_FOR]
    if not likely:
        return [None] * count
    fitting = [name for name, chance in likely if chance >= WORTH * likely[0][1]][:count]
    if questions is None:
        return [*fitting, *([fitting[0]] * (count - len(fitting)))]
    again = next((name for name, _ in likely if name != QUESTION), QUESTION)
    asked = [name for name in fitting if name != QUESTION]
    last = [QUESTION] * min(questions, len(fitting) - len(asked))
    return [*asked, *([again] * (count - len(asked) - len(last))), *last]


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
        return "broken off, or only a greeting"
    if len(said) < FEWEST_WORDS:
        return "too short"
    runs = _runs(said)
    if len(set(runs)) < len(runs) or _says_twice(said):
        return "goes round in circles"
    heard = {run for turn in request.turns if turn.speaker is Role.SEEKER for run in _runs(words(turn.text))}
    if runs and sum(run in heard for run in runs) > ECHO * len(runs):
        return "an echo"
    return "; ".join(review(text).reasons)


def _says_twice(said: Sequence[str]) -> bool:
    """ "A dog or a dog": the same two words again at once."""
    pairs = list(pairwise(said))
    return any(pair in pairs[place + 2 : place + 1 + NEAR] for place, pair in enumerate(pairs))


def _runs(said: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(said[place : place + LOOP]) for place in range(len(said) - LOOP + 1)]


def _seed(request: Request, number: int) -> int:
    """Of the turn as well as of the person's seed: the next turn draws other chances."""
    return int(np.random.SeedSequence((request.seed, len(request.turns), number)).generate_state(1)[0])
