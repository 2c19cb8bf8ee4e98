"""How a conversation moves between calm, danger and checking back. One pure function.

calm     --danger-->      danger     a fixed reply
danger   --anything-->    danger     the next fixed reply
danger   --"I'm safe"-->  checking   a gentle check-back
checking --"yes"-->       calm       talk on
checking --"no"-->        danger     a fixed reply
checking --unclear-->     checking   asked once more, then calm
"""

from __future__ import annotations

from dataclasses import replace

from allears.safety.answers import says_no, says_safe, says_yes
from allears.safety.dangers import Danger, Phase, SafetyState

DANGER_REPLY, CHECK_BACK = "danger", "check-back"
CHECK_BACKS = 2  # they said that they are safe, and no danger since: we do not ask for ever

_GRAVEST_FIRST = (Danger.SUICIDE, Danger.HARM_TO_OTHERS, Danger.ABUSE, Danger.SELF_HARM)


def advance(
    state: SafetyState, danger: Danger | None, message: str, *, for_another: bool = False
) -> tuple[SafetyState, str | None]:
    """The state after this message, and which fixed reply it gets, if any.

    `danger` is what this message itself speaks of; `for_another` says that it is about somebody else.
    """
    if state.phase is not Phase.CALM and state.danger is None:  # stored by hand: we take it for the gravest
        state = replace(state, danger=_GRAVEST_FIRST[0])
    after: SafetyState = state
    answer: str | None = None
    if danger is not None:
        after, answer = _in_danger(state, danger, for_another), DANGER_REPLY
    elif state.phase is Phase.DANGER and says_safe(message):
        after, answer = replace(state, phase=Phase.CHECKING, turns=1), CHECK_BACK
    elif state.phase is Phase.DANGER or (state.phase is Phase.CHECKING and says_no(message)):
        after, answer = _in_danger(state, None, state.for_another), DANGER_REPLY
    elif state.phase is Phase.CHECKING:
        if says_yes(message) or says_safe(message) or state.turns >= CHECK_BACKS:
            after = SafetyState()
        else:
            after, answer = replace(state, turns=state.turns + 1), CHECK_BACK
    return after, answer


def _in_danger(state: SafetyState, danger: Danger | None, for_another: bool) -> SafetyState:
    """One more turn in danger; of two dangers the graver one stays, and one's own goes before another's."""
    known = [kind for kind in (danger, state.danger) if kind is not None]
    gravest = min(known, key=_GRAVEST_FIRST.index)
    turns = state.turns + 1 if state.phase is Phase.DANGER else 1
    for_another = for_another and (state.phase is not Phase.DANGER or state.for_another)
    return SafetyState(Phase.DANGER, gravest, turns, for_another)
