"""The crisis screen: before everything else, is somebody in danger?

Up to three layers look at every message: the patterns (what people say, in any spelling), a small head on n-grams, and
the risk head of the reader (what people mean by it). Together they give one certainty (`combination.py`). Once there
is danger the screen stays on, turn after turn, until the person says that they are safe and says so again when asked
(`state.py`).

Everything is a pure function of the message, what was said before it, and the state after the turn before.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Literal

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.safety.answers import asks_about_danger, says_safe, says_yes
from allears.safety.combination import (
    ENOUGH,
    NGRAMS,
    READER,
    Combination,
    danger_share,
    seen_by,
    shipped_combination,
)
from allears.safety.dangers import NO_DANGER, Danger, Evidence, SafetyState, Screening
from allears.safety.ngram_head import shipped_head
from allears.safety.patterns import PatternTable, pattern_table
from allears.safety.replies import danger_answered
from allears.safety.state import advance

# The probability of each label of the written cases ("none", "suicide", ...), and what gives them for a message.
Shares = Mapping[str, float]
Head = Callable[[str], Shares]

THRESHOLD = 0.5  # certainty from which a message counts as danger
SETTLED = 0.99  # a pattern of this weight is enough whatever the heads say: they know no other language
ANSWERED_YES = 0.9  # how sure a yes to our own question makes us
SHORT_MESSAGE = 6  # words; so few may go on with what the person said before

TALE_WORDS, TALE_SENTENCES = 25, 3  # from which a message is a tale: see `is_tale`
TALE_SURE = 0.66  # how sure the layers must be of one of its sentences: of many, one soon looks bad
_SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")


def sentences(message: str) -> list[str]:
    return [each.strip() for each in _SENTENCE.findall(message) if each.strip()]


def is_tale(message: str) -> bool:
    """Whether a message tells a story rather than what is the matter."""
    return len(message.split()) >= TALE_WORDS and len(sentences(message)) >= TALE_SENTENCES


class CrisisScreen:
    """Checks messages. No setting leaves it off by default or by mistake.

    `head` is the reader's risk head (`ReaderHead`), or any other function from a message to probabilities. Who has
    read the message already hands its probabilities to `check`, and the head is asked only if the message was too long
    to be read to its end. Without either, patterns and n-grams screen.

    `turn_crisis_screening_off=True` turns it off, for research on recorded conversations. Every `Screening` then says
    so, and the server refuses such a screen (`require_crisis_screening`).
    """

    def __init__(
        self,
        head: Head | None = None,
        threshold: float = THRESHOLD,
        *,
        ngrams: Head | None = None,
        patterns: PatternTable | None = None,
        combination: Combination | None = None,
        turn_crisis_screening_off: Literal[True] | None = None,
    ):
        if turn_crisis_screening_off is not None and turn_crisis_screening_off is not True:
            # An "off" that came from an environment variable or a form ("false", 0, "") must not pass for a yes.
            raise AllearsError(
                "crisis screening is on and stays on: only turn_crisis_screening_off=True turns it off, "
                f"got {turn_crisis_screening_off!r}; leave the argument out"
            )
        if not 0 < threshold < 1:
            raise AllearsError(f"the crisis screen's threshold lies between 0 and 1, got {threshold}")
        self.head, self.threshold = head, threshold
        self.ngrams: Head = ngrams or shipped_head()
        self.patterns = patterns or pattern_table()
        self.combination = combination or shipped_combination()
        self.is_on = turn_crisis_screening_off is None

    def check(
        self,
        message: str,
        history: Sequence[Turn] = (),
        state: SafetyState = SafetyState(),  # noqa: B008 - frozen
        *,
        read: Shares | None = None,
        in_part: bool = False,
    ) -> Screening:
        """Is somebody in danger? Never raises for any text. Hand `Screening.state` to the next call.

        `read` are the probabilities of the reader's risk head, from who has read the message already; `in_part` says
        that it was too long to be read to its end.
        """
        failed = None
        if self.is_on and self.head is not None and message.strip() and (read is None or in_part):
            try:
                read, in_part = self.head(message), False
            except Exception as error:  # whatever goes wrong in a reader, the other layers still screen
                failed = Evidence(READER, f"failed: {type(error).__name__}: {error}", None, 0.0)
        found = self._check(message, history, state, read, in_part)
        return replace(found, evidence=(*found.evidence, failed)) if failed else found

    def _check(
        self,
        message: str,
        history: Sequence[Turn],
        state: SafetyState,
        read: Shares | None = None,
        in_part: bool = False,
    ) -> Screening:
        """`check`, without asking the head."""
        if not self.is_on:
            off = Evidence("off", "turn_crisis_screening_off", None, 0.0)
            return Screening(None, 0.0, (off,), state, switched_off=True)
        evidence, certainty = self._message_says(message, read, in_part)
        before = self._history_says(message, history)
        evidence = (*evidence, *before)
        certainty = 1 - (1 - certainty) * prod(1 - item.weight for item in before)
        # a danger that no layer names is taken for the gravest
        danger = (_likeliest(evidence) or Danger.SUICIDE) if certainty >= self.threshold else None
        after, answer = advance(state, danger, message, for_another=_is_about_another(evidence))
        if answer is not None and danger is None:
            earlier = Evidence("state", f"still {state.phase.value}", state.danger, 0.0)
            evidence = (*evidence, earlier)
        return Screening(after.danger if answer else None, certainty, evidence, after, answer)

    def state_after(self, turns: Sequence[Turn]) -> SafetyState:
        """The state after a whole conversation, for callers that keep the turns but not the state.

        What was answered with one of our fixed texts was danger. Of the rest only what patterns and n-grams suspect
        is read again, or a long conversation would cost as many encoder passes as it has turns.
        """
        state = SafetyState()
        for place, turn in enumerate(turns):
            if turn.speaker is not Role.SEEKER:
                continue
            past = turns[:place]
            found = self._check(turn.text, past, state)
            if found.certainty >= self.threshold and self.head is not None:
                found = self.check(turn.text, past, state)
            reply = turns[place + 1] if place + 1 < len(turns) else None
            raised = danger_answered(reply.text) if reply and reply.speaker is Role.SUPPORTER else None
            if raised is not None and found.answer is None:
                state, _ = advance(state, raised, turn.text)
            else:
                state = found.state
        return state

    def _message_says(
        self, message: str, read: Shares | None, in_part: bool, *, of_a_tale: bool = False
    ) -> tuple[tuple[Evidence, ...], float]:
        """What each layer saw in the message, and how sure all of them are together."""
        if not message.strip():
            return (), 0.0
        found = self.patterns.find(message)
        ngrams = self.ngrams(message)
        evidence = [*found, self._head_says(NGRAMS, ngrams)]
        if read is not None:
            evidence.append(self._head_says(READER, read))
        tale = of_a_tale or is_tale(message)
        seen = seen_by(found, ngrams, read, everyday=self.patterns.is_everyday(message), tale=tale)
        certainty = self.combination.certainty(seen, in_part=in_part)
        if certainty >= self.threshold and tale and not of_a_tale and read is not None:
            alone = self._surest_sentence(message)
            if alone < max(self.threshold, TALE_SURE):
                evidence.append(Evidence("sentences", "no sentence alone", None, 0.0))
                certainty = alone * min(1.0, self.threshold / TALE_SURE)
        settled = [item.weight for item in found if item.weight >= SETTLED]
        return tuple(evidence), max([certainty, *settled])

    def _surest_sentence(self, message: str) -> float:
        """How sure the layers are of the sentence of a tale that looks worst by itself.

        Who tells a long story of everyday life is taken for somebody in danger by the heads rather often, and by no
        sentence of it; who is in danger says so in one.
        """
        if self.head is None:
            return 1.0
        try:
            return max(
                self._message_says(each, self.head(each), False, of_a_tale=True)[1]
                for each in sentences(message)
            )
        except Exception as error:  # whatever goes wrong in a reader: what was found stands
            warnings.warn(f"the crisis screen could not read sentence by sentence: {error}", stacklevel=2)
            return 1.0

    def _head_says(self, layer: str, shares: Shares) -> Evidence:
        """A head's likeliest danger, with a weight that is 0.5 where the head would be enough alone."""
        dangers = {label: float(share) for label, share in shares.items() if label != NO_DANGER}
        label = max(dangers, key=dangers.__getitem__, default=NO_DANGER)
        weight = self.combination.alone_weight(layer, danger_share(shares))
        return Evidence(layer, label, Danger(label) if dangers else None, weight)

    def _history_says(self, message: str, history: Sequence[Turn]) -> tuple[Evidence, ...]:
        """A yes to our own question; or a short message that goes on with what the person said just before."""
        if not history or len(message.split()) > SHORT_MESSAGE:
            return ()
        last = history[-1]
        # "I am safe" answers "are you safe?" with a yes, but "are you thinking of ending your life?" with a no
        says_it = says_yes(message) and not says_safe(message)
        if last.speaker is Role.SUPPORTER and asks_about_danger(last.text) and says_it:
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


def require_crisis_screening(screen: CrisisScreen) -> CrisisScreen:
    """The screen itself, if it is on. What serves other people calls this before it serves anybody."""
    if not screen.is_on:
        raise AllearsError(
            "a server must screen for crises: build the listener without turn_crisis_screening_off"
        )
    return screen


def _is_about_another(evidence: Iterable[Evidence]) -> bool:
    """All that was found outright is about somebody else."""
    outright = [item for item in evidence if item.layer == "patterns" and item.weight >= ENOUGH]
    return bool(outright) and all(item.name.startswith("somebody") for item in outright)


def _likeliest(evidence: Iterable[Evidence]) -> Danger | None:
    """The danger that most evidence speaks for."""
    doubt = dict.fromkeys(Danger, 1.0)
    for item in evidence:
        if item.danger is not None:
            doubt[item.danger] *= 1 - item.weight
    best = min(doubt, key=doubt.__getitem__)
    return best if doubt[best] < 1 else None
