"""The crisis screen: before everything else, is somebody in danger?

A learned reader looks at the message together with what was said before it, and at each part of a long message by
itself, in one batch. It says whether there is danger now, of which kind, whose it is, and whether the message is an
all-clear. Outright phrases and the plainest danger in other languages can only raise what it says. What follows from
that, turn after turn, is `state.py`.

Everything is a pure function of the message, what was said before it, and the state after the turn before.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.safety.dangers import (
    ALL_CLEAR,
    DOUBTFUL,
    HEAD,
    LABELS,
    WHOSE,
    Danger,
    Evidence,
    Level,
    Phase,
    SafetyState,
    Screening,
)
from allears.safety.phrases import (
    find_in_other_languages,
    find_outright,
    other_languages,
    outright_phrases,
)
from allears.safety.replies import danger_answered
from allears.safety.state import QUIET, advance
from allears.safety.thresholds import Thresholds, shipped_thresholds
from allears.text.reading import Reading

CONTEXT_TURNS = 6  # that are read before a message
PART_WORDS = 24  # a part of a long message: whole sentences up to so many words
MOST_PARTS = 120  # of one message; a longer one is read at its beginning and its end
_SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")

Probabilities = Mapping[str, npt.NDArray[np.floating]]


class ReadsDanger(Protocol):
    """A reader with the heads danger, whose and all-clear."""

    def answers(self, readings: Sequence[Reading]) -> Probabilities:
        """By head, the probabilities [N, labels] of each reading."""
        ...


@dataclass(frozen=True, slots=True)
class _Sight:
    """What the reader made of one message."""

    level: Level
    danger: Danger | None
    certainty: float
    words: str = ""
    for_another: bool = False
    all_clear: bool = False


class CrisisScreen:
    """Checks messages. No setting leaves it off by default or by mistake.

    Args:
        reader: What was learned, as a rule that of a bundle (`CrisisScreen.from_bundle`). With None only phrases
            screen, which finds the plainest danger and no more: for tests, and where a study's people are safe.
        thresholds: How sure the reader must be.
        turn_crisis_screening_off: True turns it off, for research on recorded conversations. Every `Screening` then
            says so, and the server refuses such a screen (`require_crisis_screening`).
    """

    def __init__(
        self,
        reader: ReadsDanger | None,
        thresholds: Thresholds | None = None,
        *,
        turn_crisis_screening_off: Literal[True] | None = None,
    ):
        if turn_crisis_screening_off is not None and turn_crisis_screening_off is not True:
            # An "off" that came from an environment variable or a form ("false", 0, "") must not pass for a yes.
            raise AllearsError(
                "crisis screening is on and stays on: only turn_crisis_screening_off=True turns it off, "
                f"got {turn_crisis_screening_off!r}; leave the argument out"
            )
        self.reader, self.thresholds = reader, thresholds or shipped_thresholds()
        self.is_on = turn_crisis_screening_off is None
        for table in (outright_phrases, other_languages):
            table()  # one that cannot be read stops the start, not the first message

    @classmethod
    def from_bundle(cls, bundle: Path | str = "default") -> CrisisScreen:
        """The screen of a bundle, its files checked when they are opened."""
        from allears.safety.bundled_screen import OnnxScreen

        return cls(OnnxScreen.from_bundle(bundle))

    def check(
        self,
        message: str,
        history: Sequence[Turn] = (),
        state: SafetyState = SafetyState(),  # noqa: B008 - frozen
        *,
        english: bool = True,
    ) -> Screening:
        """Is somebody in danger? Never raises for any text. Hand `Screening.state` to the next call.

        Args:
            english: False where the message is surely in another language, which the reader has not learned: then its
                phrases alone are looked for.
        """
        if not self.is_on:
            off = Evidence("off", "turn_crisis_screening_off", None, 0.0)
            return Screening(None, 0.0, (off,), state, switched_off=True)
        evidence: list[Evidence] = []
        sight, was_read = _Sight(Level.NONE, None, 0.0), False
        if self.reader is not None and message.strip() and english:
            try:
                sight, was_read = self._read(message, history), True
                evidence.append(
                    Evidence("screen", sight.level.value, sight.danger, sight.certainty, sight.words)
                )
            except Exception as error:  # whatever goes wrong in a reader, the phrases still screen
                warnings.warn(f"the crisis screen's reader failed: {error}", stacklevel=2)
                evidence.append(Evidence("screen", f"failed: {type(error).__name__}", None, 0.0))
        sight = self._raised_by_phrases(message, sight, evidence, was_read=was_read)
        after, answer = advance(
            state, sight.level, sight.danger, all_clear=sight.all_clear, for_another=sight.for_another
        )
        if answer is not None and sight.level is Level.NONE:
            evidence.append(Evidence("state", f"still {state.phase.value}", state.danger, 0.0))
        danger = after.danger if answer else None
        return Screening(danger, sight.certainty, tuple(evidence), after, answer, sight.level)

    def state_after(self, turns: Sequence[Turn]) -> SafetyState:
        """The state after a conversation, for callers that keep the turns but not the state.

        Three quiet messages end any state, so only the latest are read again. What was answered with one of our fixed
        texts was danger.
        """
        seeker = [place for place, turn in enumerate(turns) if turn.speaker is Role.SEEKER]
        state = SafetyState()
        for place in seeker[-QUIET - 1 :]:
            found = self.check(turns[place].text, turns[:place], state)
            reply = turns[place + 1] if place + 1 < len(turns) else None
            answered = danger_answered(reply.text) if reply and reply.speaker is Role.SUPPORTER else None
            if answered is not None and not found.takes_over and state.phase is Phase.CALM:
                state, _ = advance(state, Level.CLEAR, answered)
            else:
                state = found.state
        return state

    def _read(self, message: str, history: Sequence[Turn]) -> _Sight:
        assert self.reader is not None
        pieces = parts(message)
        before = tuple(Turn(turn.speaker, turn.text) for turn in history[-CONTEXT_TURNS:])
        said = Turn(Role.SEEKER, message)
        answers = self._answers(
            [Reading((*before, said))], [Reading((Turn(Role.SEEKER, piece),)) for piece in pieces]
        )
        found = answers[HEAD]
        clear = danger_shares(found)
        doubt = clear + found[:, LABELS.index(DOUBTFUL)]
        limits = self.thresholds
        # how far above its threshold each is, so that a whole message and its parts can be compared
        steps = np.array([0.0] + [1.0] * len(pieces))
        clear_at = np.where(steps, limits.part_clear, limits.clear)
        doubt_at = np.where(steps, limits.part_doubt, limits.doubt)
        row = int(np.argmax(clear / clear_at))
        level = (
            Level.CLEAR
            if (clear >= clear_at).any()
            else Level.DOUBT
            if (doubt >= doubt_at).any()
            else Level.NONE
        )
        kinds = found[row, len(LABELS) - len(Danger) :]
        return _Sight(
            level,
            list(Danger)[int(np.argmax(kinds))] if level is not Level.NONE else None,
            float(clear.max()),
            pieces[row - 1] if row else "",
            for_another=float(answers[WHOSE][row][1]) > 0.5,
            all_clear=level is Level.NONE and float(answers[ALL_CLEAR][0][1]) >= limits.all_clear,
        )

    def _answers(self, whole: Sequence[Reading], pieces: Sequence[Reading]) -> Probabilities:
        """Both apart, so that short parts are not padded to the length of the whole."""
        assert self.reader is not None
        first = self.reader.answers(whole)
        if not pieces:
            return first
        rest = self.reader.answers(pieces)
        return {name: np.concatenate([first[name], rest[name]]) for name in (HEAD, WHOSE, ALL_CLEAR)}

    def _raised_by_phrases(
        self, message: str, sight: _Sight, evidence: list[Evidence], *, was_read: bool
    ) -> _Sight:
        """What an outright phrase makes of what the reader saw: never less. Where nothing was read, it is clear."""
        foreign = find_in_other_languages(message)
        if foreign is not None:
            evidence.append(
                Evidence("languages", foreign.phrase.language, foreign.phrase.danger, 1.0, foreign.words)
            )
            if sight.level is not Level.CLEAR:
                sight = replace(
                    sight, level=Level.CLEAR, danger=foreign.phrase.danger, certainty=1.0, all_clear=False
                )
        outright = find_outright(message)
        if outright is None:
            return sight
        phrase = outright.phrase
        evidence.append(Evidence("phrases", phrase.reason, phrase.danger, 1.0, outright.words))
        if sight.level is Level.CLEAR:
            return sight
        sure = not was_read or sight.certainty >= self.thresholds.outright
        return replace(
            sight,
            level=Level.CLEAR if sure else Level.DOUBT,
            danger=sight.danger or phrase.danger,
            certainty=sight.certainty if was_read else 1.0,
            all_clear=False,
        )


def danger_shares(found: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """[N, labels] to [N]: the probability of any clear danger."""
    shares: npt.NDArray[np.floating] = found[:, len(LABELS) - len(Danger) :].sum(axis=1)
    return shares


def parts(message: str) -> list[str]:
    """A long message in parts of whole sentences; none where it is short enough to be read at once."""
    found: list[str] = []
    for sentence in _SENTENCE.findall(message):
        words = sentence.split()
        for start in range(0, len(words), PART_WORDS):
            piece = words[start : start + PART_WORDS]
            if found and len(found[-1].split()) + len(piece) <= PART_WORDS:
                found[-1] = " ".join((found[-1], *piece))
            else:
                found.append(" ".join(piece))
    found = list(dict.fromkeys(found))
    if len(found) > MOST_PARTS:
        found = [*found[: MOST_PARTS // 2], *found[-MOST_PARTS // 2 :]]
    return found if len(found) > 1 else []


def require_crisis_screening(screen: CrisisScreen) -> CrisisScreen:
    """The screen itself, if it is on. What serves other people calls this before it serves anybody."""
    if not screen.is_on:
        raise AllearsError(
            "a server must screen for crises: build the listener without turn_crisis_screening_off"
        )
    return screen
