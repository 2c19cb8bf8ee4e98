"""What a turn is made of: the reply, why it was given, and the small protocols the listener sees its helpers through.

Everything is frozen and can be written as JSON. A conversation carries all its state: its turns, the persona in
`personas["seeker"]`, and in `labels` what a later turn must know (`safety`: see `safety.screen`). So a reply is a
function of (message, conversation, seed), and whoever stores the conversation has stored everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from allears.conversation import Conversation, PersonaSentence
from allears.runtime.selector import CandidateStates, Indices

Likely = tuple[tuple[str, float], ...]
"""Labels with their probabilities, likeliest first."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that could be said. `source` names who proposed it: the cards, or a voice."""

    text: str
    source: str
    strategy: str = ""
    mood: str = ""  # hard, good or any: what a reply on a card is for


@dataclass(frozen=True, slots=True)
class Ranked:
    """A proposal ranked: `adjusted` decided, `notes` say what the scorer read; `score` is CoBERT's (of cards)."""

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
    persona: tuple[PersonaUse, ...] = ()
    learned: tuple[PersonaSentence, ...] = ()
    changes: tuple[ShownChange, ...] = ()
    candidates: tuple[Ranked, ...] = ()  # the best ones, in order; the first was said
    review: tuple[str, ...] = ()  # drafts and replies that were refused, and why
    seed: int = 0
    milliseconds: Mapping[str, float] = field(default_factory=dict)  # by step
    voice: str = ""  # who was asked to write; "chosen": nobody
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
CARDS = "cards"  # the source of replies that were written beforehand


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
