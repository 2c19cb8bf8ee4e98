"""The crisis screen: before everything else, is somebody in danger?

Two layers look at every message: the patterns (what people say, in any spelling), and a trained head (what people
mean by it). Either is enough on its own, and two that are half sure add up. Once there is danger the screen stays on,
turn after turn, until the person says that they are safe and says so again when asked (`state.py`).

Everything is a pure function of the message, what was said before it, and the state after the turn before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import exp, log, prod
from typing import Literal

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.listener.safety.answers import asks_about_danger, says_yes
from allears.listener.safety.dangers import NO_DANGER, Danger, Evidence, SafetyState, Screening
from allears.listener.safety.ngram_head import shipped_head
from allears.listener.safety.patterns import PatternTable, pattern_table
from allears.listener.safety.state import advance

# A trained head: a message in, the probability of each label of the written cases out ("none", "suicide", ...).
Head = Callable[[str], Mapping[str, float]]

THRESHOLD = 0.5  # certainty from which a message counts as danger
ANSWERED_YES = 0.9  # how sure a yes to our own question makes us
SHORT_MESSAGE = 6  # words; so few may go on with what the person said before


class CrisisScreen:
    """Checks messages. No setting leaves it off by default or by mistake.

    `head` is the reader's risk head, or any other; without one, the small head that ships with allears is used.
    `head_threshold` is that head's own probability of danger which is enough without any pattern. Heads differ in how
    sure they are, so each brings its own (its attribute `threshold`, or 0.5).

    `turn_crisis_screening_off=True` turns it off, for research on recorded conversations. Every `Screening` then says
    so, and the server refuses such a screen (`require_crisis_screening`).
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
        if turn_crisis_screening_off is not None and turn_crisis_screening_off is not True:
            # An "off" that came from an environment variable or a form ("false", 0, "") must not pass for a yes.
            raise AllearsError(
                "crisis screening is on and stays on: only turn_crisis_screening_off=True turns it off, "
                f"got {turn_crisis_screening_off!r}; leave the argument out"
            )
        self.head: Head = shipped_head() if head is None else head
        own = getattr(self.head, "threshold", THRESHOLD)
        self.threshold = _share("threshold", threshold)
        self.head_threshold = _share("head_threshold", own if head_threshold is None else head_threshold)
        self.patterns = patterns or pattern_table()
        self.is_on = turn_crisis_screening_off is None

    def check(
        self,
        message: str,
        history: Sequence[Turn] = (),
        state: SafetyState = SafetyState(),  # noqa: B008 - frozen
    ) -> Screening:
        """Is somebody in danger? Never raises for any text. Hand `Screening.state` to the next call."""
        if not self.is_on:
            off = Evidence("off", "turn_crisis_screening_off", None, 0.0)
            return Screening(None, 0.0, (off,), state, switched_off=True)
        evidence = (
            *self.patterns.find(message),
            *self._head_says(message),
            *self._history_says(message, history),
        )
        certainty = certainty_of(evidence)
        danger = _likeliest(evidence) if certainty >= self.threshold else None
        after, answer = advance(state, danger, message, for_another=_is_about_another(evidence))
        if answer is not None and danger is None:
            before = Evidence("state", f"still {state.phase.value}", state.danger, 0.0)
            evidence = (*evidence, before)
        return Screening(after.danger if answer else None, certainty, evidence, after, answer)

    def state_after(self, turns: Iterable[Turn]) -> SafetyState:
        """The state after a whole conversation, for callers that keep the turns but not the state."""
        state, past = SafetyState(), list[Turn]()
        for turn in turns:
            if turn.speaker is Role.SEEKER:
                state = self.check(turn.text, past, state).state
            past.append(turn)
        return state

    def _head_says(self, message: str) -> tuple[Evidence, ...]:
        """The head's label, with a weight that is 0.5 where the head alone is just enough."""
        if not message.strip():
            return ()
        probabilities = {label: float(share) for label, share in self.head(message).items()}
        dangers = {label: share for label, share in probabilities.items() if label != NO_DANGER}
        if not dangers:
            return ()
        label = max(dangers, key=dangers.__getitem__)
        weight = _moved(sum(dangers.values()), self.head_threshold)
        return (Evidence("head", label, Danger(label), weight),)

    def _history_says(self, message: str, history: Sequence[Turn]) -> tuple[Evidence, ...]:
        """A yes to our own question; or a short message that goes on with what the person said just before."""
        if not history or len(message.split()) > SHORT_MESSAGE:
            return ()
        last = history[-1]
        if last.speaker is Role.SUPPORTER and asks_about_danger(last.text) and says_yes(message):
            about = _likeliest(self.patterns.find(last.text)) or Danger.SUICIDE
            return (Evidence("history", "yes to our question", about, ANSWERED_YES, message.strip()),)
        said = next((turn.text for turn in reversed(history) if turn.speaker is Role.SEEKER), "")
        if not said or len(said.split()) > SHORT_MESSAGE:
            return ()
        alone = {item.name for item in (*self.patterns.find(said), *self.patterns.find(message))}
        joined = self.patterns.find(f"{said.rstrip('.!? ')} {message}")
        return tuple(
            Evidence("history", item.name, item.danger, item.weight, item.words)
            for item in joined
            if item.name not in alone
        )


def danger_threshold(head: Head, harmless: Sequence[str], false_alarms: float = 0.02) -> float:
    """The probability of danger that this head gives to at most this share of harmless messages: its threshold."""
    shares = sorted((1 - head(text).get(NO_DANGER, 0.0) for text in harmless), reverse=True)
    allowed = int(false_alarms * len(shares))
    lowest = shares[allowed] if allowed < len(shares) else 0.5
    return min(max(lowest + 1e-6, 0.05), 0.999)  # an odd sample must not make the head deaf or frantic


def require_crisis_screening(screen: CrisisScreen) -> CrisisScreen:
    """The screen itself, if it is on. What serves other people calls this before it serves anybody."""
    if not screen.is_on:
        raise AllearsError(
            "a server must screen for crises: build the listener without turn_crisis_screening_off"
        )
    return screen


def certainty_of(evidence: Iterable[Evidence]) -> float:
    """How sure all the evidence makes us: each piece leaves its doubt, and doubts multiply.

    Hints (patterns that are not enough alone) often come from the same few words, so only the strongest counts.
    """
    items = tuple(evidence)
    hints = [item.weight for item in items if _is_hint(item)]
    doubt = prod(1 - item.weight for item in items if not _is_hint(item))
    return 1 - doubt * (1 - max(hints, default=0.0))


def _is_hint(item: Evidence) -> bool:
    return item.layer == "patterns" and item.weight < THRESHOLD


def _is_about_another(evidence: Iterable[Evidence]) -> bool:
    """All that was found outright is about somebody else."""
    outright = [item for item in evidence if item.layer == "patterns" and item.weight >= THRESHOLD]
    return bool(outright) and all(item.name.startswith("somebody") for item in outright)


def _likeliest(evidence: Iterable[Evidence]) -> Danger | None:
    """The danger that most evidence speaks for."""
    doubt = dict.fromkeys(Danger, 1.0)
    for item in evidence:
        if item.danger is not None:
            doubt[item.danger] *= 1 - item.weight
    best = min(doubt, key=doubt.__getitem__)
    return best if doubt[best] < 1 else None


def _moved(share: float, threshold: float) -> float:
    """A probability on a scale where `threshold` is 0.5: the log-odds are moved, the order stays."""
    share = min(max(share, 1e-6), 1 - 1e-6)
    odds = log(share / (1 - share)) - log(threshold / (1 - threshold))
    return 1 / (1 + exp(-odds))


def _share(name: str, value: float) -> float:
    if not 0 < value < 1:
        raise AllearsError(f"the crisis screen's {name} lies between 0 and 1, got {value}")
    return value
