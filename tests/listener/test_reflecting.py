"""Saying back what was heard: grounded, not too often, and plain words where nothing else fits."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from allears.conversation import Role, Turn
from allears.labels import ED_EMOTIONS, POLARITY_OF
from allears.listener.contract import OCCASION, PLAIN, REFLECTION, Proposal
from allears.listener.listener import Listener
from allears.listener.making import MakingProposer
from allears.listener.ranking import Moment, Weights, rank
from allears.listener.reflecting import (
    GOOD,
    GROUPS,
    HARD,
    LIGHT,
    OPEN,
    felt_in,
    group_of,
    reflections,
    shipped_frames,
)
from allears.listener.turning import PLAN, VERDICT
from allears.safety.review import review

SAD = (("sad", 0.8), ("joyful", 0.2))
LOST = "I miss my sister."


def turns(*lines: str) -> tuple[Turn, ...]:
    """The person begins."""
    return tuple(Turn((Role.SEEKER, Role.SUPPORTER)[place % 2], line) for place, line in enumerate(lines))


def texts(proposals: list[Proposal], source: str) -> list[str]:
    return [each.text for each in proposals if each.source == source]


def test_the_persons_own_words_come_back_and_nothing_else_is_claimed():
    found = texts(reflections(turns(LOST), "sad", "comforting"), REFLECTION)
    assert len(found) == 2
    assert all(text.startswith("You miss your sister") for text in found)


def test_it_is_not_done_twice_running():
    back = "You miss your sister. What is that like for you?"
    again = turns(LOST, back, "She lives in Oslo.")
    assert texts(reflections(again, OPEN, "comforting"), REFLECTION) == []
    later = (*again, Turn(Role.SUPPORTER, "How far is that?"), Turn(Role.SEEKER, "We talk on the phone."))
    assert texts(reflections(later, OPEN, "comforting"), REFLECTION)


def test_a_verdict_is_heard_and_not_agreed_with():
    for text in texts(reflections(turns("Nobody loves me anymore."), "sad", "comforting"), REFLECTION):
        assert "feels" in text


def test_whether_a_plan_is_wise_is_not_said():
    found = reflections(turns("Maybe I'll leave my job tomorrow."), "happy", "action")
    assert texts(found, REFLECTION)
    assert not any(
        word in each.text.lower() for each in found for word in ("good idea", "great", "wonderful")
    )


@pytest.mark.parametrize("stage", ["opening", "ending"])
def test_nothing_is_said_back_to_a_greeting_or_a_farewell(stage: str):
    assert reflections(turns("I am going to bed now."), "sad", stage) == []


def test_plain_words_are_said_once_in_a_conversation():
    everything = [text for each in shipped_frames("plain") if each.group == "sad" for text in each.texts]
    so_far = [line for text in everything for line in ("mm", text)]
    assert texts(reflections(turns(*so_far, "What now?"), "sad", "comforting"), PLAIN) == []
    heard, asked = "I'm sorry. That sounds painful.", "How are you with it today?"
    later = texts(reflections(turns("mm", f"{heard} {asked}", "What now?"), "sad", "comforting"), PLAIN)
    assert later
    assert not any(heard in text or asked in text for text in later)


def test_plain_words_that_hear_come_with_a_question_unless_we_just_asked():
    found = texts(reflections(turns("What now?"), "sad", "comforting"), PLAIN)
    assert found[0] == f"{found[1]} {found[2]}"
    assert found[0].endswith("?")
    after = texts(reflections(turns("mm", "Was it today?", "What now?"), "sad", "comforting"), PLAIN)
    assert len(after) == 2
    assert not after[0].endswith("?")


def test_joy_in_the_words_is_not_met_with_sorrow():
    told = turns("I went on my first holiday alone and it was really great.")
    sorrow = {text for each in shipped_frames("plain") if each.group == "lonely" for text in each.texts}
    assert sorrow.isdisjoint(texts(reflections(told, "lonely", "exploration"), PLAIN))
    assert not sorrow.isdisjoint(
        texts(reflections(turns("I was alone all day."), "lonely", "exploration"), PLAIN)
    )


def test_the_same_turn_has_the_same_reflections():
    assert reflections(turns(LOST), "sad", "comforting", 3) == reflections(
        turns(LOST), "sad", "comforting", 3
    )


def test_a_feeling_is_named_only_if_message_and_mood_agree():
    angry, afraid = (("angry", 0.9), ("joyful", 0.1)), (("afraid", 0.9), ("joyful", 0.1))
    happy = (("joyful", 0.9), ("sad", 0.1))
    assert felt_in(angry, angry) == "angry"
    assert felt_in(angry, afraid) == HARD
    assert felt_in(happy, (("grateful", 0.9), ("sad", 0.1))) == GOOD
    assert felt_in(angry, happy) == OPEN
    assert group_of(()) == OPEN


def test_every_group_and_kind_has_frames_and_plain_words_that_pass_our_own_review():
    for group in (*GROUPS, HARD, GOOD, OPEN, PLAN):
        for kind in ("frame", "plain"):
            assert [each for each in shipped_frames(kind) if each.group == group], (group, kind)
    assert [each for each in shipped_frames() if each.group == VERDICT]
    for kind in ("frame", "plain"):
        for each in shipped_frames(kind):
            for text in each.texts:
                assert review(text.replace("{s}", "it rained").replace("{S}", "It rained")).ok, text
    assert set().union(*map(set, GROUPS.values())) <= set(ED_EMOTIONS)


def moment(*lines: str) -> Moment:
    return Moment(turns(*lines), SAD, (("Reflection of feelings", 0.5), ("Question", 0.5)), "comforting")


def test_plain_words_win_only_where_nothing_else_fits():
    plain = Proposal("That sounds hard.", PLAIN, "Reflection of feelings")
    wrong = Proposal("Your wedding was ruined by the weather.", "pool", "Reflection of feelings")
    right = Proposal("You miss your sister so much.", "pool", "Reflection of feelings")
    dull = [Proposal(f"Go on, {number}.", "pool", "Question") for number in range(6)]
    scores = np.array([0.0] * 7 + [1.0, 1.2], np.float32)
    assert rank([plain, *dull, wrong], scores[:-1], moment(LOST))[0].proposal is plain
    assert rank([plain, *dull, wrong, right], scores, moment(LOST))[0].proposal is right


def test_telling_somebody_what_they_never_said_costs_more_than_asking():
    told = Proposal("The argument broke something in you.", "pool", "Reflection of feelings")
    asked = Proposal("Was there an argument that broke something?", "pool", "Question")
    found = {
        each.proposal.strategy: each for each in rank([told, asked], np.zeros(2, np.float32), moment(LOST))
    }
    assert found["Question"].adjusted > found["Reflection of feelings"].adjusted
    assert any(note.startswith("tells what was not said") for note in found["Reflection of feelings"].notes)


def test_a_reflection_pays_its_price_and_gets_nothing_for_repeating_words():
    proposal = Proposal("You miss your sister. That sounds hard.", REFLECTION, "Reflection of feelings")
    (found,) = rank([proposal], np.zeros(1, np.float32), moment(LOST))
    assert any(note.startswith("says it back") for note in found.notes)
    assert not any(note.startswith("takes up") for note in found.notes)
    free = rank([proposal], np.zeros(1, np.float32), moment(LOST), Weights(said_back=0.0))[0]
    assert free.adjusted == pytest.approx(found.adjusted + Weights().said_back)


def test_the_listener_proposes_it_among_the_others(listener: Listener):
    why = listener.respond("The kettle in our kitchen is an old one.").why
    assert {REFLECTION, PLAIN} & {each.proposal.source for each in why.candidates}


def test_nothing_is_said_back_where_an_answer_was_written_for_it(listener: Listener):
    knowing = copy.copy(listener)
    knowing.making = MakingProposer(listener.selector)
    why = knowing.respond("We had to put our dog to sleep on Tuesday.").why
    sources = {each.proposal.source for each in why.candidates}
    assert OCCASION in sources
    assert not {REFLECTION, PLAIN} & sources


@pytest.mark.parametrize("felt", ["happy", "good"])
def test_joy_is_only_joined_in_where_the_words_show_it(felt: str) -> None:
    cheerful = {text for frame in shipped_frames("plain") if frame.group == felt for text in frame.texts}
    sold = (Turn(Role.SEEKER, "My landlord just told us he's selling the building."),)
    won = (Turn(Role.SEEKER, "My landlord just told us he's lowering the rent!"),)
    for seed in range(10):
        assert not any("!" in each.text for each in reflections(sold, felt, "exploration", seed))
        assert cheerful.isdisjoint(each.text for each in reflections(sold, felt, "exploration", seed))
    assert any("!" in each.text for each in reflections(won, felt, "exploration"))


@pytest.mark.parametrize(
    ("message", "mood", "felt"),
    [(0.2, 0.1, HARD), (0.9, 0.8, GOOD), (0.6, 0.55, LIGHT), (0.6, 0.3, OPEN), (0.1, 0.7, OPEN)],
)
def test_where_no_feeling_is_clear_its_side_still_counts(message: float, mood: float, felt: str) -> None:
    def read(good: float):  # spread over so many feelings that no group stands out
        bright = [name for name in ED_EMOTIONS if POLARITY_OF[name] == "positive"]
        dark = [name for name in ED_EMOTIONS if POLARITY_OF[name] != "positive"]
        return tuple((name, good / len(bright)) for name in bright) + tuple(
            (name, (1 - good) / len(dark)) for name in dark
        )

    assert group_of(read(message)) == group_of(read(mood)) == OPEN
    assert felt_in(read(message), read(mood)) == felt
