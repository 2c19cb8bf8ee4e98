"""The crisis screen: what it makes of what a reader sees, when it stays on, and that nobody turns it off."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.safety.dangers import Danger, Level, Phase, SafetyState
from allears.safety.replies import fixed_reply, gentle_question
from allears.safety.screen import (
    CONTEXT_TURNS,
    MOST_PARTS,
    PART_WORDS,
    CrisisScreen,
    parts,
    require_crisis_screening,
)
from made_up_danger import THRESHOLDS, Broken, Sees, screen_that

OUTRIGHT = "I want to kill myself"
SOUP = "We had soup on the balcony and the neighbours came by with their dog."
IN_DANGER = SafetyState(Phase.DANGER, Danger.ABUSE, 1)


def seeker(text: str) -> Turn:
    return Turn(Role.SEEKER, text)


def supporter(text: str) -> Turn:
    return Turn(Role.SUPPORTER, text)


# --- one message


@pytest.mark.parametrize(
    ("shares", "level", "danger"),
    [
        ({}, Level.NONE, None),
        ({"abuse": 0.49}, Level.NONE, None),
        ({"abuse": 0.55}, Level.DOUBT, Danger.ABUSE),  # enough for a doubt, not enough to be clear
        ({"abuse": 0.65}, Level.CLEAR, Danger.ABUSE),
        ({"abuse": 0.25, "child": 0.4}, Level.CLEAR, Danger.CHILD),  # together; the likelier is named
        ({"doubt": 0.4, "eating": 0.2}, Level.DOUBT, Danger.EATING),
        ({"doubt": 0.95}, Level.DOUBT, Danger.SUICIDE),  # nothing is likelier than another: the first
    ],
)
def test_how_sure_the_reader_is_decides_the_level(
    shares: dict[str, float], level: Level, danger: Danger | None
):
    found = screen_that({"curtains": shares}).check("The curtains are always drawn now.")
    assert (found.level, found.danger) == (level, danger)
    answers = {Level.NONE: None, Level.DOUBT: "question", Level.CLEAR: "danger"}
    assert found.answer == answers[level]
    assert found.takes_over is (level is Level.CLEAR)


def test_the_evidence_says_who_saw_what_and_can_be_stored():
    found = screen_that({"rope": {"suicide": 0.9}}).check("I want to die. The rope is there.").to_dict()
    assert [(item["layer"], item["name"], item["danger"]) for item in found["evidence"]] == [
        ("screen", "clear", "suicide"),
        ("phrases", found["evidence"][1]["name"], "suicide"),
    ]
    assert found["evidence"][1]["words"] == "i want to die"
    assert (found["certainty"], found["level"]) == (0.9, "clear")
    assert json.loads(json.dumps(found)) == found


def test_a_doubt_is_asked_about_once():
    screen = screen_that({"tired": {"doubt": 0.7}})
    found = screen.check("I am so tired of it all.")
    assert found.state == SafetyState(Phase.DOUBT, Danger.SUICIDE, 1)
    assert gentle_question(found.danger).endswith("?")
    later = screen.check("Work was long.", state=found.state)
    assert (later.answer, later.danger, later.state.phase) == (None, None, Phase.DOUBT)
    assert screen.check("Tired, always.", state=later.state).answer == "danger"


def test_what_was_said_before_is_handed_over_without_its_strategies_and_no_more_of_it_than_is_read():
    reader = Sees()
    turns = [seeker(f"s{number}") if number % 2 == 0 else supporter(f"p{number}") for number in range(9)]
    history = [*turns, Turn(Role.SUPPORTER, "p9", strategy="Question", author="me")]
    CrisisScreen(reader, THRESHOLDS).check("and now", history)
    ((reading,),) = reader.asked
    assert reading.turns == (*turns[4:], supporter("p9"), seeker("and now"))
    assert len(reading.turns) == CONTEXT_TURNS + 1


def test_a_message_about_somebody_else_is_answered_as_such():
    screen = screen_that({"pills": {"suicide": 0.9}}, another=["sister"])
    own, other = screen.check("The pills are here."), screen.check("My sister has the pills.")
    assert not own.state.for_another
    assert other.state.for_another
    assert fixed_reply(own, country="IE") != fixed_reply(other, country="IE")


def test_an_all_clear_ends_danger_and_nothing_else_of_the_kind_does():
    screen = screen_that({"pills": {"suicide": 0.9}}, calming=["bin"])
    assert screen.check("They are in the bin.", state=IN_DANGER).state == SafetyState()
    assert screen.check("They are in the drawer.", state=IN_DANGER).answer == "danger"
    assert screen.check("The pills are in the bin.", state=IN_DANGER).answer == "danger"
    assert screen.check(f"They are in the bin. {OUTRIGHT}", state=IN_DANGER).answer == "danger"


@pytest.mark.parametrize("message", ["", "   ", "\n"])
def test_nothing_is_read_where_nothing_is_said(message: str):
    reader = Sees()
    found = CrisisScreen(reader, THRESHOLDS).check(message)
    assert (found.answer, found.state, reader.asked) == (None, SafetyState(), [])


def test_the_same_message_and_state_always_give_the_same_screening():
    screen = screen_that({"scared": {"abuse": 0.7}})
    assert screen.check("i am scared", (), IN_DANGER) == screen.check("i am scared", (), IN_DANGER)


# --- long messages


def test_one_sentence_of_danger_among_many_is_found_where_the_whole_is_too_long_to_be_read():
    said = f"{SOUP} {SOUP.replace('soup', 'cake')} The rope is in the car. {SOUP.replace('soup', 'tea')}"
    screen = screen_that({"rope": {"suicide": 0.9}}, longest=24)
    found = screen.check(said)
    assert (found.level, found.danger) == (Level.CLEAR, Danger.SUICIDE)
    assert "The rope is in the car." in found.evidence[0].words
    assert len(found.evidence[0].words.split()) <= PART_WORDS


@pytest.mark.parametrize(("share", "level"), [(0.69, Level.NONE), (0.75, Level.DOUBT), (0.85, Level.CLEAR)])
def test_a_part_without_what_stands_around_it_needs_more(share: float, level: Level):
    screen = screen_that({"rope": {"suicide": share}}, longest=10)
    said = " ".join([SOUP, SOUP.replace("soup", "cake"), "The rope is in the car, and it is very long now."])
    assert screen.check(said).level is level


def test_whose_danger_it_is_is_told_by_the_part_that_shows_it():
    said = f"My sister came by. {SOUP} {SOUP.replace('soup', 'cake')} The rope is in the car."
    screen = screen_that({"rope": {"suicide": 0.9}}, another=["sister"], longest=24)
    assert not screen.check(said).state.for_another


def test_the_parts_of_a_message_are_read_together_and_without_what_was_said_before():
    reader = Sees()
    CrisisScreen(reader, THRESHOLDS).check(f"{SOUP} {SOUP.replace('soup', 'cake')}", [supporter("And then?")])
    (whole,), pieces = reader.asked
    assert len(whole.turns) == 2
    assert [len(piece.turns) for piece in pieces] == [1, 1]


@pytest.mark.parametrize("message", ["", "Yes.", "One. Two! Three?", " ".join(["word"] * PART_WORDS)])
def test_a_short_message_has_no_parts(message: str):
    assert parts(message) == []


def test_parts_are_whole_sentences_as_many_as_have_room():
    first, second = " ".join(["one"] * 10) + ".", " ".join(["two"] * 10) + "!"
    third = " ".join(["three"] * 10) + "?"
    assert parts(f"{first} {second} {third}") == [f"{first} {second}", third]


def test_a_sentence_without_an_end_is_cut_where_it_is_too_long():
    words = [f"w{number}" for number in range(2 * PART_WORDS + 5)]
    found = parts(" ".join(words))
    assert [len(part.split()) for part in found] == [PART_WORDS, PART_WORDS, 5]
    assert " ".join(found).split() == words


@pytest.mark.parametrize(
    "message",
    [
        "die. " * 1_600,
        "a" * 8_000,
        " ".join(f"w{number}" for number in range(1_600))[:8_000],
        "".join(f"This is sentence number {number} of a very long message today. " for number in range(150)),
        "\ud800 half of a sign \udfff",
        "\u202e\u0000\u200b",
        "…" * 8_000,
        "!?.\n" * 2_000,
        "我" * 8_000,
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_no_text_breaks_it_and_none_is_read_in_more_parts_than_there_may_be(message: str):
    reader = Sees()
    found = CrisisScreen(reader, THRESHOLDS).check(message[:8_000])
    assert found.answer is None
    assert sum(map(len, reader.asked)) <= MOST_PARTS + 1


def test_what_is_said_over_and_over_is_read_once():
    reader = Sees()
    CrisisScreen(reader, THRESHOLDS).check("die. " * 1_600)
    assert sum(map(len, reader.asked)) <= 3


# --- phrases beside the reader


def test_an_outright_phrase_makes_a_reader_that_half_sees_it_sure():
    screen = screen_that({"kill": {"suicide": 0.25}})
    found = screen.check(OUTRIGHT)
    assert (found.level, found.danger) == (Level.CLEAR, Danger.SUICIDE)
    assert [item.layer for item in found.evidence] == ["screen", "phrases"]


def test_an_outright_phrase_in_what_the_reader_holds_for_harmless_is_asked_about():
    assert screen_that({"kill": {"suicide": 0.1}}).check(OUTRIGHT).answer == "question"
    assert screen_that().check(OUTRIGHT).answer == "question"


def test_a_phrase_never_makes_less_of_what_the_reader_sees():
    found = screen_that({"kill": {"overdose": 0.95}}).check(OUTRIGHT)
    assert (found.level, found.danger, found.certainty) == (Level.CLEAR, Danger.OVERDOSE, 0.95)


@pytest.mark.parametrize("screen", [screen_that(), CrisisScreen(None)], ids=["harmless", "no reader"])
def test_the_plainest_danger_in_another_language_needs_no_reader(screen: CrisisScreen):
    found = screen.check("Quiero morir.")
    assert (found.level, found.danger) == (Level.CLEAR, Danger.SUICIDE)
    assert found.evidence[-1].layer == "languages"


def test_without_a_reader_phrases_screen():
    screen = CrisisScreen(None)
    found = screen.check(OUTRIGHT)
    assert (found.answer, found.danger, found.certainty) == ("danger", Danger.SUICIDE, 1.0)
    assert screen.check("The curtains are drawn.").answer is None


def test_a_reader_that_fails_is_told_and_phrases_still_screen():
    screen = CrisisScreen(Broken(), THRESHOLDS)
    with pytest.warns(UserWarning, match="the crisis screen's reader failed: no session"):
        found = screen.check(OUTRIGHT)
    assert (found.answer, found.danger) == ("danger", Danger.SUICIDE)
    assert found.evidence[0].name == "failed: RuntimeError"
    with pytest.warns(UserWarning, match="no session"):
        assert screen.check("Nice weather.").answer is None


# --- turn after turn


def test_it_stays_on_until_an_all_clear():
    screen = screen_that({"rope": {"suicide": 0.9}}, calming=["called"])
    talk = [
        ("The rope is there.", "danger", Phase.DANGER),
        ("nobody gets it", "danger", Phase.DANGER),
        ("what is the weather like", "danger", Phase.DANGER),
        ("ok i called my sister, she is with me now", None, Phase.CALM),
        ("what is the weather like", None, Phase.CALM),
    ]
    state = SafetyState()
    for message, answer, phase in talk:
        found = screen.check(message, state=state)
        assert (found.answer, found.state.phase) == (answer, phase), message
        state = found.state


def test_a_turn_that_is_answered_only_because_of_an_earlier_one_says_so():
    found = screen_that().check("It rains.", state=IN_DANGER)
    assert (found.danger, found.level) == (Danger.ABUSE, Level.NONE)
    assert (found.evidence[-1].layer, found.evidence[-1].name) == ("state", "still danger")


def test_the_state_can_be_found_again_from_the_turns():
    screen = screen_that({"rope": {"suicide": 0.9}, "tired": {"doubt": 0.7}}, calming=["called"])
    rope, quiet, ours = seeker("The rope is there."), seeker("It rains."), supporter("I hear you.")
    assert screen.state_after([]) == SafetyState()
    assert screen.state_after([quiet, ours]) == SafetyState()
    assert screen.state_after([rope, ours]) == SafetyState(Phase.DANGER, Danger.SUICIDE, 1)
    assert screen.state_after([rope, ours, quiet, ours]) == SafetyState(Phase.DANGER, Danger.SUICIDE, 2, 1)
    assert screen.state_after([rope, ours, seeker("I called her."), ours]) == SafetyState()
    assert screen.state_after([rope, ours, *[quiet, ours] * 3]) == SafetyState()
    assert screen.state_after([seeker("So tired."), ours]).phase is Phase.DOUBT


def test_of_a_long_conversation_only_the_latest_messages_are_read_again():
    reader = Sees()
    turns = [seeker("It rains."), supporter("I hear you.")] * 30
    CrisisScreen(reader, THRESHOLDS).state_after(turns)
    assert len(reader.asked) == 4
    assert all(len(reading.turns) <= CONTEXT_TURNS + 1 for batch in reader.asked for reading in batch)


def test_what_one_of_our_fixed_texts_answered_was_danger_even_if_it_is_not_seen_again():
    found = screen_that({"curtains": {"abuse": 0.9}}).check("The curtains are drawn.")
    turns = [seeker("The curtains are drawn."), supporter(fixed_reply(found, country="IE"))]
    blind = screen_that()
    assert blind.check("The curtains are drawn.").answer is None
    assert blind.state_after(turns) == SafetyState(Phase.DANGER, Danger.ABUSE, 1)
    assert blind.state_after([turns[0], supporter("Please call me Ada.")]) == SafetyState()


# --- it is not turned off by accident


@pytest.mark.parametrize("value", [False, 0, 1, "", "false", "true", "off"])
def test_nothing_but_the_plain_true_turns_screening_off(value: object):
    with pytest.raises(AllearsError, match="crisis screening is on and stays on"):
        CrisisScreen(None, turn_crisis_screening_off=value)  # type: ignore[arg-type]


def test_a_screen_that_is_off_says_so_and_is_refused_by_a_server():
    off = CrisisScreen(None, turn_crisis_screening_off=True)
    found = off.check(OUTRIGHT, state=IN_DANGER)
    assert (found.danger, found.answer, found.state) == (None, None, IN_DANGER)
    assert found.to_dict()["switched_off"] is True
    assert found.evidence[0].name == "turn_crisis_screening_off"
    with pytest.raises(AllearsError, match="a server must screen for crises"):
        require_crisis_screening(off)
    on = CrisisScreen(None)
    assert require_crisis_screening(on) is on


# --- what it costs


@pytest.mark.parametrize(
    "text",
    [
        "i want to kill myself " * 4_500,
        "kill " * 20_000,
        "i really " * 11_000,
        "i took all my " * 7_000,
        "a" * 100_000,
        "a b c d " * 12_500,
        "…" * 100_000,
        "\u0301" * 100_000,
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_a_text_of_a_hundred_thousand_characters_is_no_burden(text: str):
    screen = screen_that()
    screen.check("warm up")
    began = time.process_time()
    screen.check(text)
    long = time.process_time() - began
    began = time.process_time()
    screen.check(text[: len(text) // 4])
    quarter = time.process_time() - began
    # Linear, with room for noise; and a text like a novel's chapter takes seconds at the very most.
    assert long < 8 * quarter + 0.5
    assert long < 10


def test_the_room_needs_nothing_heavy():
    code = (
        "from allears.safety.screen import CrisisScreen; CrisisScreen(None).check('hello'); import sys; "
        "print(*[n for n in ('torch', 'transformers', 'pandas', 'scipy', 'sklearn') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
