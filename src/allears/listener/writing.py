"""Replies that a voice writes for this very turn: one draft after the other, until one can be said.

A draft is refused where it broke off, goes round in circles, was said before in this conversation or does not pass the
review of our own words. Of several drafts the scorer chooses. A voice that fails (a dead endpoint) has no drafts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from allears.conversation import Persona, PersonaSentence, Role, Turn
from allears.decoding import PAL_ALPHAS, AlphaTable, Settings
from allears.errors import AllearsError
from allears.listener.contract import Proposal, Ranked, Wish
from allears.listener.voices import Voice
from allears.runtime.generator import Generated, Prompt, Streams
from allears.safety.review import review

# A program has no life of its own to speak of: whatever it wrote there would be untrue.
NEVER_ASKED_FOR = frozenset({"Self-disclosure"})
SHOWN_TURNS = 16  # of the latest that a voice reads
SPARE_TRIES = 2  # more drafts than the voice's own number where all were refused
LOOP = 4  # words in a row that may not come twice
NEAR = 4  # words within which two in a row may not come again
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE = re.compile(r".*?[.!?…][\"'”’)]*(?=\s|$)", re.DOTALL)
_QUESTION = re.compile(
    r"(what|who|whom|whose|which|where|when|why|how|do|does|did|is|are|was|were|have|has|had|can|could|will|would|shall"
    r"|should|may|might|don't|doesn't|didn't|isn't|aren't|haven't|can't|couldn't|won't|wouldn't|shouldn't)\b"
    r"(?! (a|an) )",
    re.IGNORECASE,
)


class Scorer(Protocol):
    """Reads a conversation, what is known of the person and replies, and says how well each fits: higher is better."""

    def score(self, turns: Sequence[Turn], known: Sequence[str], replies: Sequence[str]) -> list[float]: ...


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """What a voice may know of a turn. `strategies`: the likeliest first, for drafts after the first."""

    turns: tuple[Turn, ...]
    known: tuple[str, ...] = ()  # of the person, from before the turns that are shown
    about_listener: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    wish: Wish = Wish()  # noqa: RUF009 - frozen
    seed: int = 0
    days_since: int | None = None


@dataclass(frozen=True, slots=True)
class Drafts:
    """What a voice wrote for one turn, best first; what of it cannot be said and why; what went wrong with it."""

    ranked: tuple[Ranked, ...] = ()
    refused: tuple[str, ...] = ()
    trouble: str = ""


class Speech:
    """A reply sentence by sentence, each reviewed before it is heard; it ends before one that may not be said."""

    def __init__(self, pieces: Iterator[str], split: Callable[[str], tuple[str, str]], turns: Sequence[Turn]):
        self.text, self.strategy = "", ""  # what was heard so far
        self._pieces, self._split, self._turns = pieces, split, turns

    def __iter__(self) -> Iterator[str]:
        written = ""
        for piece in self._pieces:
            written += piece
            # a mark at the very end may be the middle of something ("3.5")
            if (sentence := self._new(written[: written.rfind(" ") + 1], cut=True)) is None:
                return
            yield from sentence
        yield from self._new(written, cut=False) or ()

    def _new(self, written: str, *, cut: bool) -> list[str] | None:
        """What can be heard beyond what was heard; None where it may not be said."""
        self.strategy, text = self._split(written)
        whole = whole_sentences(Generated(text, "", 0.0, cut=cut))
        if not whole.startswith(self.text) or len(whole) == len(self.text):
            return []
        if cannot_be_said(whole, self._turns):
            return None
        new, self.text = whole[len(self.text) :], whole
        return [new]


class Writer:
    """Asks a voice. The same turn and seed give the same drafts, whoever else is answered at the same time."""

    def __init__(self, voice: Voice, scorer: Scorer | None = None):
        self.voice, self.scorer = voice, scorer

    @property
    def takes_alpha(self) -> bool:
        """Whether a wish for PAL's alpha changes anything."""
        return bool(getattr(self.voice.generator, "has_branches", False))

    @property
    def streams(self) -> bool:
        """Whether words can be shown before the reply is whole: there is one draft, and its words come one by one."""
        return self.voice.drafts == 1 and isinstance(self.voice.generator, Streams)

    def write(self, request: DraftRequest) -> Drafts:
        """As many drafts as the voice may write; more where none can be said."""
        assert self.voice.generator is not None
        alphas = self._alphas(request)
        found: dict[str, Proposal] = {}
        refused: list[str] = []
        trouble = ""
        for attempt in range(self.voice.drafts + SPARE_TRIES):
            if attempt >= self.voice.drafts and found:
                break
            prompt = self._prompt(request, attempt)
            try:
                ((generated,),) = self.voice.generator.generate(
                    [prompt],
                    self._settings(request, attempt),
                    [_seed(request, attempt)],
                    alphas=alphas,
                )
            except AllearsError as error:
                trouble = str(error)
                break
            text = whole_sentences(generated)
            reason = cannot_be_said(text, request.turns)
            if reason:
                refused.append(f"{text or generated.text} ({reason})")
                continue
            found.setdefault(text, Proposal(text, self.voice.name, generated.strategy))
        return Drafts(tuple(self._ranked(list(found.values()), request)), tuple(refused), trouble)

    def speak(self, request: DraftRequest) -> Speech:
        """The first draft, to be heard while it is written."""
        generator = self.voice.generator
        assert isinstance(generator, Streams)
        prompt, settings = self._prompt(request, 0), self._settings(request, 0)
        return Speech(generator.stream(prompt, settings, _seed(request, 0)), generator.split, request.turns)

    def _prompt(self, request: DraftRequest, attempt: int) -> Prompt:
        return Prompt(
            request.turns[-SHOWN_TURNS:],
            request.known,
            self._strategy(request, attempt),
            request.about_listener,
            request.days_since,
        )

    def _strategy(self, request: DraftRequest, attempt: int) -> str | None:
        """The first draft's is the voice's own choice; later ones are told the likeliest in turn."""
        if request.wish.strategy:
            return request.wish.strategy
        likely = [name for name in request.strategies if name not in NEVER_ASKED_FOR]
        if not attempt or not likely:
            return None
        return likely[(attempt - 1) % len(likely)]

    def _settings(self, request: DraftRequest, attempt: int) -> Settings:
        """Another answer, and a draft after a refused one, are drawn more freely."""
        settings = self.voice.settings
        free = request.seed or attempt
        return replace(settings, temperature=settings.temperature + self.voice.freer) if free else settings

    def _alphas(self, request: DraftRequest) -> AlphaTable | None:
        """A wish before the voice's own; of no use to a voice that has no second branch."""
        if not self.takes_alpha:
            return None
        wished = request.wish.alpha
        return self.voice.alphas if wished is None else PAL_ALPHAS.all(wished)

    def _ranked(self, proposals: Sequence[Proposal], request: DraftRequest) -> list[Ranked]:
        """The best first; all are scored at once, so that the conversation is read once."""
        if self.scorer is None or self.voice.drafts == 1:
            return [Ranked(proposal, 1.0, 1.0) for proposal in proposals]
        worths = self.scorer.score(request.turns, request.known, [each.text for each in proposals])
        ranked = [Ranked(each, worth, worth) for each, worth in zip(proposals, worths, strict=True)]
        return sorted(ranked, key=lambda each: -each.adjusted)


def whole_sentences(generated: Generated) -> str:
    """Without the sentence that was broken off at its end; one that only lacks its last mark gets it."""
    text = generated.text.strip()
    sentences = [match[0].strip() for match in _SENTENCE.finditer(text)]
    rest = text[sum(len(match[0]) for match in _SENTENCE.finditer(text)) :].strip()
    if rest and not generated.cut:
        bare = rest.rstrip(",;:-–— ")
        sentences.append(f"{bare}{'?' if _QUESTION.match(bare) else '.'}")
    return " ".join(sentences)


def cannot_be_said(text: str, turns: Sequence[Turn]) -> str:
    """Why a text is no reply here, or nothing."""
    said = _words(text)
    if not said:
        return "there is nothing in it"
    if _is_loop(said):
        return "goes round in circles"
    if any(turn.speaker is Role.SUPPORTER and _words(turn.text) == said for turn in turns):
        return "was said before"
    return "; ".join(review(text).reasons)


def known_before(
    persona: Persona, turns: Sequence[Turn], asked_for: Sequence[PersonaSentence] = ()
) -> tuple[str, ...]:
    """What is known of the person that the turns a voice is shown do not tell; first what the message asks for."""
    first = max(0, len(turns) - SHOWN_TURNS) + 1
    shown = {f"turn {number}" for number in range(first, len(turns) + 1)}
    others = (each.text for each in persona.sentences if each.source not in shown)
    return tuple(dict.fromkeys((*(each.text for each in asked_for), *others)))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _is_loop(said: Sequence[str]) -> bool:
    """The same four words twice, or the same two again at once: "a dog or a dog"."""
    runs = [tuple(said[place : place + LOOP]) for place in range(len(said) - LOOP + 1)]
    pairs = list(pairwise(said))
    return len(set(runs)) < len(runs) or any(
        pair in pairs[place + 2 : place + 1 + NEAR] for place, pair in enumerate(pairs)
    )


def _seed(request: DraftRequest, attempt: int) -> int:
    """Of the turn as well as of the person's seed: the next turn draws other chances."""
    return int(np.random.SeedSequence((request.seed, len(request.turns), attempt)).generate_state(1)[0])
