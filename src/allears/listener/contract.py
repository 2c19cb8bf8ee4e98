"""What a turn is made of: the reply, why it was given, and the small protocols the listener sees its helpers through.

Everything is frozen and can be written as JSON. A conversation carries all its state: its turns, the persona in
`personas["seeker"]`, and in `labels` what a later turn must know (`safety`: see `safety.screen`). So a reply is a
function of (message, conversation, seed), and whoever stores the conversation has stored everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from allears.conversation import Conversation, Persona, PersonaSentence, Turn
from allears.runtime.selector import CandidateStates, Indices

Likely = tuple[tuple[str, float], ...]
"""Labels with their probabilities, likeliest first."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that could be said. `source` names who proposed it ("pool", "reflection", a generator's name, ...)."""

    text: str
    source: str
    strategy: str = ""
    emotions: tuple[str, ...] = ()
    stage: str = ""
    likely: float | None = None  # the log-odds that it fits, where who proposed it can tell


@dataclass(frozen=True, slots=True)
class Ranked:
    """A proposal after ranking: `score` is CoBERT's, `adjusted` what decided; `notes` say what moved it."""

    proposal: Proposal
    score: float
    adjusted: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PersonaUse:
    """A persona sentence, how much of the reply's attention fell on it (shares sum to one), and where it was said."""

    text: str
    weight: float
    source: str = ""


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A persona sentence that replaced another, and why."""

    old: str
    new: str
    reason: str


@dataclass(frozen=True, slots=True)
class Why:
    """Everything behind one reply."""

    kind: str  # "reply", "crisis" (a fixed text of the crisis screen), "forget" or another request of the person's
    screening: Mapping[str, Any] = field(
        default_factory=dict
    )  # what the crisis screen found, and by which layer
    emotions: Likely = ()
    strategy: str = ""
    strategies: Likely = ()
    stage: str = ""
    persona: tuple[PersonaUse, ...] = ()
    learned: tuple[PersonaSentence, ...] = ()
    changes: tuple[ShownChange, ...] = ()
    candidates: tuple[Ranked, ...] = ()  # the best ones, in order; the first was said
    review: tuple[str, ...] = ()  # proposals that our own review refused, and why
    seed: int = 0
    milliseconds: Mapping[str, float] = field(default_factory=dict)  # by step
    voice: str = ""  # who was asked to write beside the pool; "retrieval": nobody
    trouble: str = ""  # why that voice had nothing to say, if something went wrong
    wished: str = ""  # the strategy that the person asked for
    listener_persona: tuple[PersonaUse, ...] = ()  # of the listener's own persona, if it was given one

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody asks of one reply beside its message: a strategy, and how much to lean on the persona.

    `alpha` is PAL's (equation 6); a voice that has none goes on without it.
    """

    strategy: str = ""
    alpha: float | None = None


NO_WISH = Wish()
POOL = "pool"  # the source of replies that were written beforehand
SMALL_VOICES = ("default", "smollm2")  # the sources of replies that a small model of ours wrote
REFLECTION = "reflection"  # the source of replies that say back what the person said
TO_US = "to us"  # the source of answers to what is said to the listener itself
OCCASION = "occasion"  # the source of answers that were written for what was told
TURN_OF_TALK = "turn"  # and of those for what is said in any talk ("I haven't told anybody")
ANSWERED = "answered"  # the source of answers that were written for a message like this one
PLAIN = "plain"  # the source of words that fit whatever was said
IN_CHARACTER = "persona"  # the source of replies in the colours of the listener's own persona


@dataclass(frozen=True, slots=True)
class Reply:
    """What is said, why, and the conversation with both new turns in it (what the next call is given)."""

    text: str
    why: Why
    conversation: Conversation


class Responder(Protocol):
    """How the chat and the server see the listener."""

    def respond(
        self, message: str, conversation: Conversation | None = None, *, seed: int = 0, wish: Wish = NO_WISH
    ) -> Reply: ...

    def stream(
        self, message: str, conversation: Conversation | None = None, *, seed: int = 0, wish: Wish = NO_WISH
    ) -> Iterator[str | Reply]:
        """The reply piece by piece, and at the end the whole `Reply`."""
        ...

    def respond_many(
        self,
        messages: Sequence[str],
        conversations: Sequence[Conversation | None],
        *,
        seeds: Sequence[int],
        wishes: Sequence[Wish] | None = None,
    ) -> list[Reply]:
        """Several people at once: the same replies as one by one, with shared encoder passes."""
        ...


@dataclass(frozen=True, slots=True)
class Proposed:
    """Proposals with their encodings: proposal i is candidate `chosen[i]` of `states`."""

    proposals: tuple[Proposal, ...]
    states: CandidateStates
    chosen: Indices


class Proposer(Protocol):
    """Proposes replies: a pool's search, a generator."""

    def propose(self, request: Request) -> Proposed: ...


@dataclass(frozen=True, slots=True)
class Request:
    """What a proposer may know."""

    turns: tuple[Turn, ...]
    persona: Persona
    emotions: Likely
    strategies: Likely
    stage: str
    seed: int
    encoded: Any = None  # the ranker's encoding of this one query, so that nobody encodes it twice
    wish: Wish = NO_WISH
    listener: tuple[str, ...] = ()  # where `encoded` has it: the persona that the listener itself speaks with
