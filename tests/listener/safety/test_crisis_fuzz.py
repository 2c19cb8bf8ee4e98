"""Any text gives a screening and a review, never an exception."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allears.conversation import Role, Turn
from allears.safety.dangers import ALL_CLEAR, HEAD, LABELS, WHOSE, Danger, Phase, SafetyState, Screening
from allears.safety.replies import fixed_reply
from allears.safety.review import Review, review
from allears.safety.screen import CrisisScreen
from allears.text.reading import Reading


class Chance:
    """A reader that sees anything in anything, the same in the same words."""

    def answers(self, readings: Sequence[Reading]) -> dict[str, np.ndarray]:
        seed = crc32(readings[0].turns[-1].text.encode("utf-8", "surrogatepass"))
        draw = np.random.default_rng(seed)
        return {
            HEAD: draw.dirichlet(np.full(len(LABELS), 0.2), len(readings)),
            WHOSE: draw.dirichlet([1, 1], len(readings)),
            ALL_CLEAR: draw.dirichlet([1, 1], len(readings)),
        }


SCREENS = {"by chance": CrisisScreen(Chance()), "by phrases": CrisisScreen(None)}
# words that the phrases care about, in the hands of chance
WORDS = st.sampled_from(
    [
        "i",
        "want",
        "to",
        "kill",
        "myself",
        "he",
        "my husband",
        "hits",
        "me",
        "not",
        "quiero morir",
        "took all",
        "suicide",
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
    SafetyState,
    st.sampled_from(Phase),
    st.sampled_from(Danger),
    st.integers(0, 9),
    st.integers(0, 3),
    st.booleans(),
)
TURNS = st.lists(st.builds(Turn, st.sampled_from(Role), TEXTS), max_size=3)


@pytest.mark.parametrize("name", SCREENS)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, TURNS, STATES)
def test_any_text_in_any_state_gives_a_screening(
    name: str, message: str, history: list[Turn], state: SafetyState
):
    found = SCREENS[name].check(message, history, state)
    assert isinstance(found, Screening)
    assert 0 <= found.certainty <= 1
    assert (found.danger is None) == (found.answer is None)
    assert SafetyState.from_dict(found.state.to_dict()) == found.state
    if found.takes_over:
        assert fixed_reply(found, message=message, said=[turn.text for turn in history], country="IE")


@settings(max_examples=120, deadline=None)
@given(TEXTS)
def test_any_text_can_be_reviewed(text: str):
    judged = review(text)
    assert isinstance(judged, Review)
    assert judged.ok == (not judged.reasons)
