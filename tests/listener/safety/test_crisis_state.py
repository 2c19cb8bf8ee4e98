"""How a conversation moves between calm, doubt and danger."""

from __future__ import annotations

import json

import pytest

from allears.labels import DANGERS
from allears.safety.dangers import LABELS, Danger, Level, Phase, SafetyState
from allears.safety.state import DANGER_REPLY, QUESTION, QUIET, advance

CALM = SafetyState()
DOUBT = SafetyState(Phase.DOUBT, Danger.ABUSE, 1)
IN_DANGER = SafetyState(Phase.DANGER, Danger.ABUSE, 2)


@pytest.mark.parametrize(
    ("state", "level", "all_clear", "phase", "answer"),
    [
        (CALM, Level.NONE, False, Phase.CALM, None),
        (CALM, Level.NONE, True, Phase.CALM, None),
        (CALM, Level.DOUBT, False, Phase.DOUBT, QUESTION),
        (CALM, Level.CLEAR, False, Phase.DANGER, DANGER_REPLY),
        (DOUBT, Level.CLEAR, False, Phase.DANGER, DANGER_REPLY),
        (DOUBT, Level.DOUBT, False, Phase.DANGER, DANGER_REPLY),
        (DOUBT, Level.NONE, True, Phase.CALM, None),
        (DOUBT, Level.NONE, False, Phase.DOUBT, None),  # talk on, and do not ask twice
        (IN_DANGER, Level.CLEAR, False, Phase.DANGER, DANGER_REPLY),
        (IN_DANGER, Level.DOUBT, False, Phase.DANGER, DANGER_REPLY),
        (IN_DANGER, Level.NONE, True, Phase.CALM, None),
        (IN_DANGER, Level.NONE, False, Phase.DANGER, DANGER_REPLY),
    ],
)
def test_a_message_moves_the_conversation(
    state: SafetyState, level: Level, all_clear: bool, phase: Phase, answer: str | None
):
    danger = None if level is Level.NONE else Danger.ABUSE
    after, found = advance(state, level, danger, all_clear=all_clear)
    assert (after.phase, found) == (phase, answer)
    if phase is Phase.CALM:
        assert after == SafetyState()


@pytest.mark.parametrize(
    ("state", "answers"), [(DOUBT, [None, None]), (IN_DANGER, [DANGER_REPLY, DANGER_REPLY])]
)
def test_the_third_message_in_a_row_without_danger_ends_it(state: SafetyState, answers: list[str | None]):
    assert QUIET == 3
    found = []
    for _ in range(2):
        state, answer = advance(state, Level.NONE, None)
        found.append(answer)
        assert state.phase is not Phase.CALM
    assert found == answers
    assert advance(state, Level.NONE, None) == (SafetyState(), None)


def test_danger_in_between_begins_the_count_of_quiet_messages_anew():
    state = IN_DANGER
    for level in (Level.NONE, Level.NONE, Level.DOUBT, Level.NONE, Level.NONE):
        state, answer = advance(state, level, Danger.ABUSE if level is Level.DOUBT else None)
        assert answer == DANGER_REPLY
    assert advance(state, Level.NONE, None)[0].phase is Phase.CALM


def test_an_all_clear_does_not_take_back_what_the_same_message_says():
    assert advance(IN_DANGER, Level.CLEAR, Danger.ABUSE, all_clear=True)[1] == DANGER_REPLY


def test_the_answers_of_a_phase_are_counted():
    state, turns = CALM, []
    for level in (Level.CLEAR, Level.NONE, Level.CLEAR, Level.NONE):
        state, _ = advance(state, level, Danger.ABUSE)
        turns.append(state.turns)
    assert turns == [1, 2, 3, 4]


def test_a_doubt_that_becomes_danger_begins_with_the_first_text():
    after, _ = advance(DOUBT, Level.DOUBT, Danger.SUICIDE)
    assert after == SafetyState(Phase.DANGER, Danger.SUICIDE, 1)
    nameless, _ = advance(DOUBT, Level.DOUBT, None)
    assert nameless.danger is Danger.ABUSE  # what was asked about


@pytest.mark.parametrize(
    ("before", "now", "stays"),
    [
        (Danger.ABUSE, Danger.SUICIDE, Danger.SUICIDE),
        (Danger.SUICIDE, Danger.ABUSE, Danger.SUICIDE),
        (Danger.SUICIDE, Danger.OVERDOSE, Danger.OVERDOSE),
        (Danger.EATING, Danger.SELF_HARM, Danger.EATING),
        (Danger.CHILD, None, Danger.CHILD),
    ],
)
def test_of_two_dangers_the_graver_one_stays(before: Danger, now: Danger | None, stays: Danger):
    after, _ = advance(SafetyState(Phase.DANGER, before, 1), Level.CLEAR, now)
    assert after.danger is stays


@pytest.mark.parametrize(
    ("before", "now", "after"),
    [(True, True, True), (True, False, False), (False, True, False), (False, False, False)],
)
def test_ones_own_danger_goes_before_anothers(before: bool, now: bool, after: bool):
    state = SafetyState(Phase.DANGER, Danger.SUICIDE, 1, for_another=before)
    assert advance(state, Level.CLEAR, Danger.SUICIDE, for_another=now)[0].for_another is after


def test_worry_about_somebody_else_is_remembered_from_the_first_message_on():
    state, _ = advance(CALM, Level.CLEAR, Danger.SUICIDE, for_another=True)
    assert state.for_another
    assert advance(state, Level.NONE, None)[0].for_another
    assert advance(CALM, Level.DOUBT, Danger.SUICIDE, for_another=True)[0].for_another


def test_a_state_survives_being_stored():
    state = SafetyState(Phase.DOUBT, Danger.SELF_HARM, 2, 1, for_another=True)
    assert SafetyState.from_dict(json.loads(json.dumps(state.to_dict()))) == state
    assert SafetyState.from_dict({}) == SafetyState()


def test_a_state_of_an_older_version_is_danger_still():
    assert SafetyState.from_dict({"phase": "checking", "danger": "abuse"}).phase is Phase.DANGER
    with pytest.raises(ValueError, match="merry"):
        SafetyState.from_dict({"phase": "merry"})


def test_the_kinds_of_danger_are_the_labels_of_the_learned_head_in_their_order():
    assert LABELS == DANGERS
