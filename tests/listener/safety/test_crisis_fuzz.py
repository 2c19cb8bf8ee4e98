"""Any text gives a screening and a review, never an exception."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allears.conversation import Role, Turn
from allears.safety.dangers import Danger, Phase, SafetyState, Screening
from allears.safety.replies import fixed_reply
from allears.safety.review import Review, review
from allears.safety.screen import CrisisScreen

SCREEN = CrisisScreen()
# words that the patterns care about, in the hands of chance
WORDS = st.sampled_from(
    [
        "i",
        "want",
        "to",
        "kill",
        "myself",
        "he",
        "hits",
        "me",
        "not",
        "never",
        "k1ll",
        "s*icide",
        "die",
        "2",
        "u",
        ".",
        "!",
        "?",
        "'m",
        "don’t",
        "hide",
        "knife",
        "pills",
        "yes",
        "no",
        "safe",
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=30).map(" ".join))
STATES = st.builds(
    SafetyState, st.sampled_from(Phase), st.none() | st.sampled_from(Danger), st.integers(0, 9), st.booleans()
)
TURNS = st.lists(st.builds(Turn, st.sampled_from(Role), TEXTS), max_size=3)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, TURNS, STATES)
def test_any_text_in_any_state_gives_a_screening(message: str, history: list[Turn], state: SafetyState):
    found = SCREEN.check(message, history, state)
    assert isinstance(found, Screening)
    assert 0 <= found.certainty <= 1
    assert (found.danger is None) == (found.answer is None)
    assert SafetyState.from_dict(found.state.to_dict()) == found.state
    if found.answer:
        assert fixed_reply(found, country="IE")


@settings(max_examples=120, deadline=None)
@given(TEXTS)
def test_any_text_can_be_reviewed(text: str):
    judged = review(text)
    assert isinstance(judged, Review)
    assert judged.ok == (not judged.reasons)
