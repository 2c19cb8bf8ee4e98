"""The crisis screen: what it hears, when it stays on, and that nobody turns it off by accident."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.evaluation.safety import evaluate_safety
from allears.safety.cases_file import shipped_cases
from allears.safety.combination import Combination, WeightedSum
from allears.safety.dangers import Danger, Phase, SafetyState
from allears.safety.replies import fixed_reply
from allears.safety.screen import CrisisScreen, Head, require_crisis_screening


def seeker(text: str) -> Turn:
    return Turn(Role.SEEKER, text)


def supporter(text: str) -> Turn:
    return Turn(Role.SUPPORTER, text)


def harmless_head(_: str) -> Mapping[str, float]:
    return {"none": 1.0, "suicide": 0.0, "self-harm": 0.0, "abuse": 0.0, "harm-to-others": 0.0}


def sees(danger: float, label: str = "abuse") -> Mapping[str, float]:
    return dict(harmless_head("")) | {"none": 1 - danger, label: danger}


@pytest.fixture(scope="module")
def screen() -> CrisisScreen:
    return CrisisScreen()


# what the layers weigh in the tests of how they meet, whatever the shipped numbers are
WEIGHED = Combination(
    without_reader=WeightedSum(-1.0, {"outright": 2.0, "ngrams": 0.5}),
    with_reader=WeightedSum(-2.0, {"outright": 1.5, "ngrams": 0.25, "reader": 1.0}),
    sure=2.0,
    alone={},
)


def weighed(ngrams: float, head: Head | None = None) -> CrisisScreen:
    """A screen whose small head always sees this much danger."""
    return CrisisScreen(head, ngrams=lambda _: sees(ngrams), combination=WEIGHED)


@pytest.mark.parametrize(
    ("message", "danger"),
    [
        ("I want to kill myself", Danger.SUICIDE),
        ("i w4nt 2 k1ll mys3lf", Danger.SUICIDE),
        ("i wanna dieeeee", Danger.SUICIDE),
        ("iwanttokillmyself", Danger.SUICIDE),
        ("i want to k i l l myself", Danger.SUICIDE),
        ("I dont wanna be alive anymore", Danger.SUICIDE),
        ("been s*icidal all week", Danger.SUICIDE),
        ("i wnat to end my lfie", Danger.SUICIDE),
        ("Everyone would be better off without me.", Danger.SUICIDE),
        ("I cut myself again last night", Danger.SELF_HARM),
        ("the urge to hurt myself is back", Danger.SELF_HARM),
        ("my husband hits me", Danger.ABUSE),
        ("hes gonna kill me if i leave", Danger.ABUSE),
        ("My stepdad comes into my bed at night", Danger.ABUSE),
        ("I'm going to stab my boss", Danger.HARM_TO_OTHERS),
        ("ima shoot everyone at that school", Danger.HARM_TO_OTHERS),
        ("quiero morir", Danger.SUICIDE),
    ],
)
def test_danger_is_heard_in_any_spelling(screen: CrisisScreen, message: str, danger: Danger):
    found = screen.check(message)
    assert found.danger is danger
    assert found.answer == "danger"
    assert any(
        item.layer == "patterns" and item.danger is danger and item.weight >= 0.5 for item in found.evidence
    )


@pytest.mark.parametrize(
    "message",
    [
        "This exam is killing me.",
        "I could murder a pizza right now.",
        "I nearly died of embarrassment.",
        "My phone died again.",
        "It hit me today how old I am.",
        "He hit on me at the party.",
        "I cut my finger while cooking.",
        "We killed two birds with one stone.",
        "I used to hurt myself, but I'm well now.",
        "My cousin died by suicide last spring and I miss her.",
        "I'm reading a murder mystery on the balcony.",
        "I'd rather die than sing karaoke, haha.",
        "No, I don't want to hurt myself. I'm just sad.",
        "I take tablets for my blood pressure.",
        "Good morning! What shall we talk about?",
        "",
        "   ",
    ],
)
def test_figures_of_speech_the_past_and_small_talk_are_no_danger(screen: CrisisScreen, message: str):
    found = screen.check(message)
    assert found.danger is None
    assert found.answer is None
    assert found.state == SafetyState()


def test_on_the_cases_it_was_built_with_it_finds_most_and_rarely_cries_wolf(screen: CrisisScreen):
    """Not a measure (`allears evaluate safety` is): a guard against breaking the layers that need no bundle."""
    built_with = evaluate_safety(screen, shipped_cases("train")[::4])
    assert built_with.recall.value >= 58
    assert built_with.false_alarms.value <= 3
    weighed_with = evaluate_safety(screen, shipped_cases("valid"))
    assert weighed_with.recall.value >= 53
    assert weighed_with.false_alarms.value <= 3.5


def test_the_reader_can_raise_the_alarm_where_no_pattern_does():
    message = "The curtains are always drawn now."
    assert weighed(0.3).check(message).danger is None
    found = weighed(0.3).check(message, read=sees(0.99))
    assert found.danger is Danger.ABUSE
    assert [item.layer for item in found.evidence] == ["ngrams", "reader"]


def test_the_reader_can_talk_the_other_layers_out_of_a_suspicion():
    message = "my husband hits me"
    assert weighed(0.3).check(message).danger is Danger.ABUSE
    assert weighed(0.3).check(message, read=sees(0.8)).danger is Danger.ABUSE
    assert weighed(0.3).check(message, read=sees(0.01)).danger is None


def test_the_reader_cannot_talk_the_other_layers_out_of_what_they_are_sure_of():
    assert weighed(0.99).check("my husband hits me", read=sees(0.0)).danger is Danger.ABUSE


@pytest.mark.parametrize(
    "message", ["I want to kill myself", "I'm suicidal and I want to die", "quiero morir"]
)
def test_a_reader_that_says_none_to_everything_does_not_make_the_shipped_screen_deaf(message: str):
    assert CrisisScreen(harmless_head).check(message).danger is Danger.SUICIDE


def test_a_reader_that_fails_is_named_and_the_other_layers_still_screen():
    def broken(_: str) -> Mapping[str, float]:
        raise RuntimeError("no session")

    found = CrisisScreen(broken).check("I want to kill myself")
    assert found.danger is Danger.SUICIDE
    assert any(
        item.layer == "reader" and item.name == "failed: RuntimeError: no session" for item in found.evidence
    )
    assert CrisisScreen(broken).check("Nice weather.").danger is None


def test_what_the_caller_has_read_already_is_not_read_again():
    def never(_: str) -> Mapping[str, float]:
        raise AssertionError("asked")

    found = CrisisScreen(never).check("Nice weather.", read=sees(0.01))
    assert not any("failed" in item.name for item in found.evidence)


def test_a_message_that_was_read_in_part_only_is_not_cleared_by_the_reader():
    message = "my husband hits me"
    assert weighed(0.3).check(message, read=sees(0.01)).danger is None
    assert weighed(0.3).check(message, read=sees(0.01), in_part=True).danger is Danger.ABUSE
    assert weighed(0.3).check("The curtains are drawn.", read=sees(0.99), in_part=True).danger is Danger.ABUSE


def test_a_message_that_was_read_in_part_only_is_read_to_its_end_where_there_is_a_head():
    grave = weighed(0.3, lambda _: sees(0.99))
    assert grave.check("The curtains are drawn.", read=sees(0.01)).danger is None
    assert grave.check("The curtains are drawn.", read=sees(0.01), in_part=True).danger is Danger.ABUSE


def test_the_evidence_says_which_layer_and_pattern_saw_what(screen: CrisisScreen):
    found = screen.check("i wanna k1ll myself").to_dict()
    first = found["evidence"][0]
    assert (first["layer"], first["name"], first["danger"]) == ("patterns", "suicide-beyond-doubt", "suicide")
    assert first["words"] == "want to kill myself"
    assert json.loads(json.dumps(found)) == found


def test_it_stays_on_until_the_person_says_that_they_are_safe_and_says_it_again(screen: CrisisScreen):
    talk = [
        ("I want to die.", "danger", Phase.DANGER),
        ("nobody gets it", "danger", Phase.DANGER),
        ("what is the weather like", "danger", Phase.DANGER),
        ("ok i called my sister, she is with me now", "check-back", Phase.CHECKING),
        ("yes", None, Phase.CALM),
        ("what is the weather like", None, Phase.CALM),
    ]
    state = SafetyState()
    for message, answer, phase in talk:
        found = screen.check(message, state=state)
        assert (found.answer, found.state.phase) == (answer, phase), message
        state = found.state


def test_a_turn_that_is_answered_only_because_of_an_earlier_one_says_so(screen: CrisisScreen):
    state = screen.check("I want to die.").state
    found = screen.check("It rains.", state=state)
    assert found.danger is Danger.SUICIDE
    assert found.evidence[-1].layer == "state"


@pytest.mark.parametrize("answer", ["I am safe.", "I'm safe now.", "im safe now, my sister is with me"])
def test_safe_is_no_yes_to_our_own_question(screen: CrisisScreen, answer: str):
    found = screen.check("I don't want to live any more.")
    history = (seeker("I don't want to live any more."), supporter(fixed_reply(found, country="GB")))
    later = screen.check(answer, history, state=found.state)
    assert later.state.phase is Phase.CHECKING
    assert screen.check("Yes.", history, state=found.state).state.phase is Phase.DANGER


@pytest.mark.parametrize("answer", ["no", "not really", "I lied", "i want to die"])
def test_a_no_to_the_check_back_is_danger_again(screen: CrisisScreen, answer: str):
    state = SafetyState(Phase.CHECKING, Danger.SUICIDE, 1)
    assert screen.check(answer, state=state).state.phase is Phase.DANGER


def test_after_two_unclear_answers_to_the_check_back_it_lets_go(screen: CrisisScreen):
    state = SafetyState(Phase.CHECKING, Danger.SUICIDE, 1)
    found = screen.check("the cat is on the sofa", state=state)
    assert (found.answer, found.state.phase) == ("check-back", Phase.CHECKING)
    assert screen.check("she likes it there", state=found.state).state == SafetyState()


@pytest.mark.parametrize(
    "message",
    ["I'm not safe", "I don't feel safe", "am I safe?", "I'll be safe when I'm gone", "I told them I'm safe"],
)
def test_what_is_not_clearly_safe_is_not_safe(screen: CrisisScreen, message: str):
    state = SafetyState(Phase.DANGER, Danger.ABUSE, 1)
    assert screen.check(message, state=state).state.phase is Phase.DANGER


def test_of_two_dangers_the_graver_one_stays(screen: CrisisScreen):
    state = screen.check("I want to kill myself.").state
    assert screen.check("and he hits me", state=state).danger is Danger.SUICIDE
    state = screen.check("he hits me").state
    assert screen.check("I want to kill myself.", state=state).danger is Danger.SUICIDE


def test_worry_about_somebody_else_is_remembered_until_it_is_about_oneself(screen: CrisisScreen):
    state = screen.check("My friend says she wants to kill herself tonight.").state
    assert state.for_another
    assert screen.check("she is not answering", state=state).state.for_another
    assert not screen.check("and I want to die too", state=state).state.for_another


def test_a_yes_to_our_own_question_is_heard(screen: CrisisScreen):
    history = [seeker("i feel so low"), supporter("Are you thinking of ending your life?")]
    assert screen.check("sometimes", history).danger is Danger.SUICIDE
    assert screen.check("no", history).danger is None
    assert screen.check("sometimes", [supporter("Do you like tea?")]).danger is None


def test_a_sentence_that_is_sent_in_two_parts_is_heard(screen: CrisisScreen):
    history = [seeker("i am going to kill"), supporter("Go on.")]
    assert screen.check("him").danger is None
    assert screen.check("him", history).danger is Danger.HARM_TO_OTHERS


def test_the_state_can_be_found_again_from_the_turns(screen: CrisisScreen):
    turns = [seeker("I want to die."), supporter("I'm here."), seeker("It's dark.")]
    assert screen.state_after(turns) == SafetyState(Phase.DANGER, Danger.SUICIDE, 2)
    assert screen.state_after([]) == SafetyState()


def test_a_danger_that_our_reply_shows_is_found_again_though_the_message_alone_does_not_show_it(
    screen: CrisisScreen,
):
    message = "The curtains are drawn."
    found = weighed(0.3).check(message, read=sees(0.99))
    turns = [seeker(message), supporter(fixed_reply(found, country="IE"))]
    assert screen.check(message).danger is None
    assert screen.state_after(turns) == SafetyState(Phase.DANGER, Danger.ABUSE, 1)
    assert screen.state_after([seeker(message), supporter("Tell me more.")]) == SafetyState()


def test_of_a_whole_conversation_the_reader_reads_only_what_the_other_layers_suspect():
    asked: list[str] = []

    def head(message: str) -> Mapping[str, float]:
        asked.append(message)
        return sees(0.01)

    turns = [seeker("We had soup."), supporter("Nice."), seeker("my husband hits me"), supporter("Hm.")]
    assert weighed(0.3, head).state_after(turns) == SafetyState()
    assert asked == ["my husband hits me"]


def test_a_state_survives_being_stored():
    state = SafetyState(Phase.CHECKING, Danger.SELF_HARM, 2, for_another=True)
    assert SafetyState.from_dict(json.loads(json.dumps(state.to_dict()))) == state
    assert SafetyState.from_dict({}) == SafetyState()


def test_the_same_message_and_state_always_give_the_same_screening(screen: CrisisScreen):
    state = SafetyState(Phase.DANGER, Danger.ABUSE, 3)
    assert screen.check("i am scared", (), state) == screen.check("i am scared", (), state)


@pytest.mark.parametrize("value", [False, 0, 1, "", "false", "true", "off"])
def test_nothing_but_the_plain_true_turns_screening_off(value: object):
    with pytest.raises(AllearsError, match="crisis screening is on and stays on"):
        CrisisScreen(turn_crisis_screening_off=value)  # type: ignore[arg-type]


def test_a_screen_that_is_off_says_so_and_is_refused_by_a_server(screen: CrisisScreen):
    off = CrisisScreen(turn_crisis_screening_off=True)
    found = off.check("I want to kill myself")
    assert found.danger is None
    assert found.switched_off
    assert found.to_dict()["switched_off"] is True
    assert found.evidence[0].name == "turn_crisis_screening_off"
    with pytest.raises(AllearsError, match="a server must screen for crises"):
        require_crisis_screening(off)
    assert require_crisis_screening(screen) is screen


@pytest.mark.parametrize("threshold", [0.0, 1.0, -1.0, 2.0])
def test_a_threshold_outside_of_0_and_1_is_refused(threshold: float):
    with pytest.raises(AllearsError, match="lies between 0 and 1"):
        CrisisScreen(harmless_head, threshold)


# --- tales ------------------------------------------------------------------------------------------------

TALE = (
    "We sold the boat on Saturday and the buyer was kind about it. I told him for twenty minutes how she behaves in a "
    "crosswind. Then he towed her off down the lane, and I stood there with my hands in my pockets."
)


def _suspects(*parts: str):
    """A head that is sure of danger where it reads one of these parts, and of none elsewhere."""

    def head(text: str) -> dict[str, float]:
        share = 0.999 if any(part in text for part in parts) else 0.02
        return {"none": 1 - share, "suicide": share}

    return head


def test_a_tale_is_danger_only_if_a_sentence_of_it_is():
    whole = CrisisScreen(lambda text: _suspects("Then" if "boat" in text else "never")(text))
    found = whole.check(TALE)
    assert found.danger is None
    assert any(item.layer == "sentences" for item in found.evidence)
    assert CrisisScreen(_suspects("lane")).check(TALE).danger is not None  # in one sentence as in the whole


def test_a_short_message_is_not_read_again():
    asked = []

    def head(text: str) -> dict[str, float]:
        asked.append(text)
        return {"none": 0.001, "suicide": 0.999}

    assert CrisisScreen(head).check("I stood there for a long time.").danger is not None
    assert len(asked) == 1


def test_in_a_tale_a_pattern_needs_a_reader_that_does_not_rule_it_out():
    scrabble = f"{TALE} Mum was with us, and she beat us all at Scrabble."
    assert CrisisScreen(_suspects("never")).check(scrabble).danger is None
    assert CrisisScreen(_suspects("beat us")).check(scrabble).danger is not None


def test_danger_in_a_tale_is_still_heard():
    for said in ("I am going to kill myself tonight.", "My husband hit me again."):
        assert CrisisScreen(_suspects(said)).check(f"{TALE} {said}").danger is not None
    assert CrisisScreen().check(f"{TALE} I want to kill myself.").danger is not None  # no reader to ask


def test_a_reader_that_fails_on_a_sentence_leaves_what_was_found():
    def head(text: str) -> dict[str, float]:
        if "boat" not in text or len(text) < 100:
            raise RuntimeError("no more")
        return {"none": 0.001, "suicide": 0.999}

    with pytest.warns(UserWarning, match="sentence by sentence"):
        assert CrisisScreen(head).check(TALE).danger is not None
