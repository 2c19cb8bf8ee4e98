"""The kinds of danger, and what the rest of the room says about them. Frozen dataclasses, no logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Danger(StrEnum):
    """What somebody may be in danger of. The values are labels of the written cases (`labels.DANGERS`)."""

    SUICIDE = "suicide"
    SELF_HARM = "self-harm"
    OVERDOSE = "overdose"  # taken already
    ABUSE = "abuse"
    CHILD = "child"  # somebody under 18 is hurt or afraid
    HARM_TO_OTHERS = "harm-to-others"
    EATING = "eating"
    PSYCHOSIS = "psychosis"


NO_DANGER, DOUBTFUL = "none", "doubt"
HEAD, WHOSE, ALL_CLEAR = "danger", "whose", "all-clear"  # what the learned screen answers
LABELS: tuple[str, ...] = (NO_DANGER, DOUBTFUL, *(danger.value for danger in Danger))


class Level(StrEnum):
    """What a message says by itself, with all that was said before it."""

    NONE = "none"
    DOUBT = "doubt"
    CLEAR = "clear"


class Phase(StrEnum):
    """Where a conversation stands: nothing is the matter, we asked gently, or somebody is in danger."""

    CALM = "calm"
    DOUBT = "doubt"
    DANGER = "danger"


@dataclass(frozen=True, slots=True)
class SafetyState:
    """All that the screen remembers between two turns."""

    phase: Phase = Phase.CALM
    danger: Danger | None = None
    turns: int = 0  # how many answers this phase has given: the next one is worded differently
    quiet: int = 0  # messages in a row without danger since
    for_another: bool = False  # it is somebody else who is in danger, and the person worries about them

    def to_dict(self) -> dict[str, Any]:
        return {
            "phase": self.phase.value,
            "danger": self.danger.value if self.danger else None,
            "turns": self.turns,
            "quiet": self.quiet,
            "for_another": self.for_another,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SafetyState:
        """The inverse of `to_dict`. Raises `ValueError` for a phase or danger that does not exist."""
        danger, phase = data.get("danger"), data.get("phase", Phase.CALM)
        return cls(
            Phase.DANGER if phase == "checking" else Phase(phase),  # stored by versions before 0.3
            None if danger is None else Danger(danger),
            int(data.get("turns", 0)),
            int(data.get("quiet", 0)),
            bool(data.get("for_another", False)),
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason for a decision: which layer saw what, and how sure it was (0 to 1)."""

    layer: str  # screen, phrases, languages, state, off
    name: str
    danger: Danger | None
    weight: float
    words: str = ""  # the part of the message that it was seen in


@dataclass(frozen=True, slots=True)
class Screening:
    """What the screen decided about one message, and why.

    `danger` is the danger of this turn: also that of an earlier message while it has not passed. `answer` says what
    must be done: "danger" is a fixed text instead of any other reply, "question" is one gentle question beside an
    ordinary reply.
    """

    danger: Danger | None
    certainty: float  # that this message itself speaks of danger, 0 to 1
    evidence: tuple[Evidence, ...]
    state: SafetyState  # after this turn: hand it to the next check
    answer: str | None = None  # None: talk on
    level: Level = Level.NONE  # of this message alone
    switched_off: bool = False  # somebody turned crisis screening off by name

    @property
    def takes_over(self) -> bool:
        """Whether a fixed text is said instead of any other reply."""
        return self.answer == "danger"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `why` and for JSON."""
        return {
            "danger": self.danger.value if self.danger else None,
            "level": self.level.value,
            "certainty": round(self.certainty, 4),
            "evidence": [
                {
                    "layer": item.layer,
                    "name": item.name,
                    "danger": item.danger.value if item.danger else None,
                    "weight": round(item.weight, 4),
                    "words": item.words,
                }
                for item in self.evidence
            ],
            "state": self.state.to_dict(),
            "answer": self.answer,
            "switched_off": self.switched_off,
        }
