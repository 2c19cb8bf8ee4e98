"""How a conversation moves between calm, doubt and danger. One pure function.

calm    --doubt-->                    doubt    one gentle question beside an ordinary reply
calm    --clear danger-->             danger   a fixed text
doubt   --clear danger, more doubt--> danger   a fixed text: a "maybe" to our plain question is a yes
doubt   --an all-clear-->             calm     talk on
doubt   --anything else-->            doubt    talk on; nobody is asked twice
danger  --danger or doubt-->          danger   the next fixed text
danger  --an all-clear-->             calm     talk on
danger  --anything else-->            danger   the next fixed text
doubt, danger  --three messages without danger-->  calm
"""

from __future__ import annotations

from allears.safety.dangers import Danger, Level, Phase, SafetyState

DANGER_REPLY, QUESTION = "danger", "question"
QUIET = 3  # messages without danger after which it is over

_GRAVEST_FIRST = (
    Danger.OVERDOSE, Danger.SUICIDE, Danger.HARM_TO_OTHERS, Danger.CHILD, Danger.ABUSE, Danger.PSYCHOSIS,
    Danger.EATING, Danger.SELF_HARM,
)  # fmt: skip


def advance(
    state: SafetyState,
    level: Level,
    danger: Danger | None,
    *,
    all_clear: bool = False,
    for_another: bool = False,
) -> tuple[SafetyState, str | None]:
    """The state after a message, and what it is answered with ("danger", "question") where not as usual.

    Args:
        level: What the message itself says.
        danger: Which danger it speaks of, where it speaks of one.
        all_clear: Whether it honestly says that there is none, or no longer.
        for_another: Whether it is about somebody else.
    """
    if level is Level.CLEAR or (level is Level.DOUBT and state.phase is not Phase.CALM):
        return _in_danger(state, danger, for_another), DANGER_REPLY
    if level is Level.DOUBT:
        return SafetyState(Phase.DOUBT, danger or Danger.SUICIDE, 1, 0, for_another), QUESTION
    if state.phase is Phase.CALM or all_clear or state.quiet + 1 >= QUIET:
        return SafetyState(), None
    answered = state.phase is Phase.DANGER
    after = SafetyState(
        state.phase, state.danger, state.turns + int(answered), state.quiet + 1, state.for_another
    )
    return after, DANGER_REPLY if answered else None


def _in_danger(state: SafetyState, danger: Danger | None, for_another: bool) -> SafetyState:
    """One more turn in danger; of two dangers the graver one stays, and one's own goes before another's."""
    goes_on = state.phase is Phase.DANGER
    known = [kind for kind in (danger or state.danger, state.danger if goes_on else None) if kind is not None]
    gravest = min(known or [Danger.SUICIDE], key=_GRAVEST_FIRST.index)
    for_another = for_another and (not goes_on or state.for_another)
    return SafetyState(Phase.DANGER, gravest, state.turns + 1 if goes_on else 1, 0, for_another)
