"""The crisis screen: before everything else, is somebody in danger?

Two layers look at every message: the patterns (what people say, in any spelling), and a trained head (what people
mean by it). Either is enough on its own, and two half-sure ones add up. Once there is danger the screen stays on,
turn after turn, until the person says that they are safe and says so again when asked.

Everything is a pure function of the message, what was said before it, and the state after the turn before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import exp, log
from typing import Literal

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.listener.safety.answers import asks_about_danger, says_no, says_safe, says_yes
from allears.listener.safety.dangers import (
    LABELS,
    NO_DANGER,
    Danger,
    Evidence,
    Phase,
    SafetyState,
    Screening,
)
from allears.listener.safety.ngram_head import shipped_head
from allears.listener.safety.patterns import PatternTable, pattern_table

# A trained head: a message in, the probability of each of the cases' labels out ("none", "suicide", ...).
Head = Callable[[str], Mapping[str, float]]

THRESHOLD = 0.5  # certainty from which a message counts as danger
CHECK_BACKS = 2  # how often we ask again after "I'm safe" when the answers are neither yes nor no
_ANSWERED_YES = 0.9  # how sure a yes to our own question makes us


class CrisisScreen:
    """Checks messages. There is no setting that leaves it off by default or by mistake.

    `head` is the reader's risk head, or any other; without one, the small head that ships with allears is used.
    `head_threshold` is the head's own probability of danger that is enough without any pattern: heads differ in how
    sure they are, so each brings its own (chosen on the validation cases).

    `turn_crisis_screening_off=True` turns it off, for research on recorded conversations. Every `Screening` then
    says so, and the server refuses such a screen (`require_crisis_screening`).
    """

    def __init__(
        self,
        head: Head | None = None,
        threshold: float = THRESHOLD,
        *,
        head_threshold: float | None = None,
        patterns: PatternTable | None = None,
        turn_crisis_screening_off: Literal[True] | None = None,
    ):
        if not 0 < threshold < 1:
            raise AllearsError(f"the crisis screen's threshold lies between 0 and 1, got {threshold}")
        if turn_crisis_screening_off not in (True, None) or turn_crisis_screening_off == 1.0 and turn_crisis_screening_off is not True:
            raise AllearsError(
                "crisis screening is on; only turn_crisis_screening_off=True turns it off, "
                f"got {turn_crisis_screening_off!r}"
            )
        shipped = shipped_head() if head is None else None
        self.head: Head = shipped if head is None else head
        self.threshold = threshold
        self.head_threshold = head_threshold if head_threshold is not None else getattr(self.head, "threshold", 0.5)
        self.patterns = patterns or pattern_table()
        self.is_on = turn_crisis_screening_off is None
