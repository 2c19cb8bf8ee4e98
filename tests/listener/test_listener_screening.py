"""Where the crisis screen stands in a turn: what it decides is said, and nothing else happens in a crisis."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import pytest

from allears.conversation import Conversation, Role, Turn
from allears.errors import AllearsError
from allears.listener.contract import Reply
from allears.listener.listener import Listener
from allears.listener.turn_state import with_question
from allears.runtime.onnx_encoder import EncodedText
from allears.runtime.selector import Query
from allears.safety.dangers import Danger
from allears.safety.replies import danger_answered, gentle_question
from allears.safety.screen import CrisisScreen
from made_up_danger import Broken, screen_that

HARMLESS, CRISIS = "My dog is ill and I worry.", "I want to kill myself."
TIRED = "I am tired of it all."
QUESTION = gentle_question(Danger.SUICIDE)


@pytest.fixture
def careful(listener: Listener) -> Listener:
    """A listener whose screen has a reader."""
    mine = copy.copy(listener)
    mine.screen = screen_that(
        {"curtains": {"abuse": 0.9}, "tired": {"doubt": 0.7}}, another=["sister"], calming=["my joke"]
    )
    return mine


# --- danger


def test_what_the_screen_sees_is_answered_with_a_fixed_text_and_stands_in_why(careful: Listener):
    reply = careful.respond("The curtains are always drawn now.")
    assert (reply.why.kind, reply.why.screening["danger"]) == ("crisis", "abuse")
    assert [item["layer"] for item in reply.why.screening["evidence"]] == ["screen"]
    assert danger_answered(reply.text) is Danger.ABUSE
    assert reply.conversation.labels["safety"]["phase"] == "danger"


def test_the_screen_reads_what_was_said_before(careful: Listener):
    first = careful.respond(HARMLESS)
    careful.respond("my cat is sad", first.conversation)
    reading = careful.screen.reader.asked[-1][0]  # type: ignore[union-attr]
    assert [turn.text for turn in reading.turns] == [HARMLESS, first.text, "my cat is sad"]


def test_the_next_text_is_another_one_until_all_is_well(careful: Listener):
    texts, talk = [], None
    for message in ("The curtains are drawn.", "my cat is sad", "the curtains", "it was my joke", HARMLESS):
        reply = careful.respond(message, talk)
        talk = reply.conversation
        texts.append((reply.why.kind, reply.text))
    assert [kind for kind, _ in texts] == ["crisis"] * 3 + ["reply"] * 2
    assert len({text for _, text in texts[:3]}) == 3


def test_of_the_later_texts_the_one_comes_that_is_nearest_to_what_was_said(
    careful: Listener, monkeypatch: pytest.MonkeyPatch
):
    def vectors(texts: Sequence[str]) -> np.ndarray:
        return np.array([[1.0, 0.0] if text in (texts[0], "he's coming") else [0.0, 1.0] for text in texts])

    monkeypatch.setattr(careful, "_vectors", vectors)
    first = careful.respond("The curtains are drawn.")
    assert careful.respond("he walks up", first.conversation).text.startswith(
        "Then look after yourself first"
    )


def test_in_a_crisis_nothing_is_remembered_found_or_written(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
):
    def never(*_: object, **__: object) -> None:
        raise AssertionError("not in a crisis")

    monkeypatch.setattr(listener, "_remember", never)
    monkeypatch.setattr(listener.selector, "encode_queries", never)
    monkeypatch.setattr(listener.selector, "compare", never)
    monkeypatch.setattr(listener.finder, "find", never)
    monkeypatch.setattr(listener, "_write", never)
    reply = listener.respond(CRISIS)
    assert reply.why.kind == "crisis"
    assert reply.why.candidates == ()


def test_screening_costs_the_listeners_encoder_no_pass(listener: Listener, monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []
    encode = listener.selector.encode_contexts

    def counted(queries: Sequence[Query]) -> list[EncodedText]:
        asked.append(len(queries))
        return encode(queries)

    monkeypatch.setattr(listener.selector, "encode_contexts", counted)
    listener.respond_many([HARMLESS, CRISIS], [None, None], seeds=[0, 0])
    assert asked == [4]  # the conversation and the message, of both people, at once


def test_a_message_that_cannot_be_read_is_screened_all_the_same(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
):
    def broken(_: object) -> list[EncodedText]:
        raise AllearsError("the encoder is gone")

    monkeypatch.setattr(listener.selector, "encode_contexts", broken)
    monkeypatch.setattr(listener.selector, "encode_responses", broken)
    first = listener.respond(CRISIS)
    assert first.why.kind == "crisis"
    with pytest.warns(UserWarning, match="the encoder is gone"):
        assert listener.respond(CRISIS, first.conversation).why.kind == "crisis"
    with pytest.raises(AllearsError, match="the encoder is gone"):
        listener.respond(HARMLESS)


def test_a_screen_whose_reader_fails_still_hears_what_is_said_outright(listener: Listener):
    mine = copy.copy(listener)
    mine.screen = CrisisScreen(Broken())
    with pytest.warns(UserWarning, match="no session"):
        crisis = mine.respond(CRISIS)
    assert crisis.why.kind == "crisis"


def test_several_people_at_once_get_the_screening_of_each_alone(careful: Listener):
    messages = [HARMLESS, CRISIS, "We had soup.", TIRED, "the curtains"]
    together = careful.respond_many(messages, [None] * 5, seeds=[0] * 5)
    for message, reply in zip(messages, together, strict=True):
        alone = careful.respond(message)
        assert (reply.text, reply.why.kind) == (alone.text, alone.why.kind)


def test_the_lines_are_those_of_the_country_and_an_unknown_one_is_refused_at_the_start(listener: Listener):
    def of(country: str | None) -> Listener:
        return Listener(
            listener.selector,
            listener.senses,
            listener.finder,
            screen=listener.screen,
            extractor=listener.extractor,
            country=country,
        )

    assert "In the United Kingdom:" in of("uk").respond(CRISIS).text
    assert "Wherever you are:" in of(None).respond(CRISIS).text
    in_ireland = Conversation("", (), labels={"country": "IE"})
    assert "In Ireland:" in of("GB").respond(CRISIS, in_ireland).text
    with pytest.raises(AllearsError, match="no help lines are listed for the country 'XX'"):
        of("XX")


# --- a doubt


def test_a_doubt_adds_one_question_to_an_ordinary_reply(careful: Listener):
    reply = careful.respond(TIRED)
    assert reply.why.kind == "reply"
    assert reply.text.endswith(QUESTION)
    assert reply.text.count("?") == 1
    assert reply.conversation.turns[-1].text == reply.text
    assert (reply.why.screening["answer"], reply.why.screening["level"]) == ("question", "doubt")
    again = careful.respond("my dog is lost", reply.conversation)
    assert QUESTION not in again.text


def test_a_second_doubt_is_danger(careful: Listener):
    first = careful.respond(TIRED)
    assert careful.respond("tired, yes", first.conversation).why.kind == "crisis"


def test_a_reply_with_the_question_is_streamed_as_it_is(careful: Listener):
    *pieces, last = careful.stream(TIRED)
    assert isinstance(last, Reply)
    assert "".join(pieces) == last.text
    assert last.text.endswith(QUESTION)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("That is a lot.", "That is a lot. Q?"),
        ("That is a lot. What happened?", "That is a lot. Q?"),
        ("What happened? That is a lot.", "That is a lot. Q?"),
        ("What happened?", "Q?"),
        ("", "Q?"),
        ("That is a lot", "That is a lot Q?"),
        ("Really?! Oh no! Who said it?", "Oh no! Q?"),
        ("You slept 3.5 hours. Why?", "You slept 3.5 hours. Q?"),
        ('He said "why?" So cold. Was he?', 'He said "why?" So cold. Q?'),
        ("So… that was it? It hurts…", "So… It hurts… Q?"),
        ("One.\n\nTwo?\n\nThree.", "One. Three. Q?"),
    ],
)
def test_the_question_makes_room_for_itself_and_keeps_what_is_stated(reply: str, said: str):
    assert with_question(reply, "Q?") == said


def test_a_question_of_the_screen_stands_beside_an_answer_from_the_notes(careful: Listener):
    first = careful.respond("My dog is called Biscuit.")
    reply = careful.respond("do you remember my tired dog's name?", first.conversation)
    assert reply.why.kind == "memory"
    assert "Biscuit" in reply.text
    assert reply.text.endswith(QUESTION)


def test_turns_of_the_past_bring_their_danger_along(careful: Listener):
    turns = (Turn(Role.SEEKER, "the curtains"), Turn(Role.SUPPORTER, "I hear you."))
    state = careful.screen.state_after(turns)
    talk = Conversation("", turns, labels={"safety": state.to_dict()})
    assert careful.respond("my cat is sad", talk).why.kind == "crisis"
