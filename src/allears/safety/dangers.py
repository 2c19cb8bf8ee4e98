"""The kinds of danger, and what the rest of the room says about them. Frozen dataclasses, no logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Danger(StrEnum):
    """What somebody may be in danger of. The values are the labels of the written cases."""

    SUICIDE = "suicide"
    SELF_HARM = "self-harm"
    ABUSE = "abuse"
    HARM_TO_OTHERS = "harm-to-others"


NO_DANGER = "none"  # the label of a message that is none of these
LABELS: tuple[str, ...] = (NO_DANGER, *(danger.value for danger in Danger))


class Phase(StrEnum):
    """Where a conversation stands.

    calm → danger (somebody may be in danger) → checking (they said that they are safe; we asked once more) → calm
    """

    CALM = "calm"
    DANGER = "danger"
    CHECKING = "checking"


@dataclass(frozen=True, slots=True)
class SafetyState:
    """All that the screen remembers between two turns."""

    phase: Phase = Phase.CALM
    danger: Danger | None = None
    turns: int = 0  # how many fixed replies this phase has given: the next one is worded differently
    for_another: bool = False  # it is somebody else who is in danger, and the person worries about them

    def to_dict(self) -> dict[str, Any]:
        return {
            "phase": self.phase.value,
            "danger": self.danger.value if self.danger else None,
            "turns": self.turns,
            "for_another": self.for_another,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SafetyState:
        """The inverse of `to_dict`. Raises `ValueError` for a phase or danger that does not exist."""
        danger = data.get("danger")
        return cls(
            Phase(data.get("phase", Phase.CALM)),
            None if danger is None else Danger(danger),
            int(data.get("turns", 0)),
            bool(data.get("for_another", False)),
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason for a decision: which layer saw what, and how much it says on its own (0 to 1)."""

    layer: str  # patterns, ngrams, reader, history, state, off
    name: str  # the pattern's name, the head's label, or what the layer found
    danger: Danger | None
    weight: float
    words: str = ""  # the words it was found in, as they were understood


@dataclass(frozen=True, slots=True)
class Screening:
    """What the screen decided about one message, and why.

    `danger` is the danger of this turn: also that of an earlier message while it has not passed.
    `answer` says whether a fixed reply must be given instead of any other, and which one.
    """

    danger: Danger | None
    certainty: float  # that this message itself speaks of danger, 0 to 1
    evidence: tuple[Evidence, ...]
    state: SafetyState  # after this turn: hand it to the next check
    answer: str | None = None  # None: talk on; otherwise "danger" or "check-back" (see `replies`)
    switched_off: bool = False  # somebody turned crisis screening off by name

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `why` and for JSON."""
        return {
            "danger": self.danger.value if self.danger else None,
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
