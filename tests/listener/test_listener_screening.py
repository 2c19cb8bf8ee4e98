"""Where the crisis screen stands in a turn: it sees what the reader read, and nothing else happens in a crisis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.listener.listener import Listener
from allears.listener.senses import Sensed, Senses
from allears.runtime.onnx_encoder import EncodedText
from allears.runtime.onnx_reader import OnnxReader
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.selector import Query
from allears.safety.reader_head import RISK, ReaderHead

HARMLESS, CRISIS = "My dog is ill and I worry.", "I want to kill myself."


class Foreboding:
    """The listener's senses, with a risk that a test has made up."""

    def __init__(self, senses: Senses, risk: Mapping[str, float], *, in_part: bool = False):
        self.senses, self.risk, self.in_part = senses, risk, in_part

    def read(
        self,
        conversations: Sequence[EncodedText],
        messages: Sequence[EncodedText],
        turns: Sequence[Sequence[Turn]],
    ) -> list[Sensed]:
        found = self.senses.read(conversations, messages, turns)
        return [each._replace(risk=self.risk, in_part=self.in_part) for each in found]


def layers(screening: Mapping[str, Any]) -> list[str]:
    return [item["layer"] for item in screening["evidence"]]


def test_what_the_reader_saw_raises_the_alarm_and_stands_in_why(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
):
    assert listener.respond(HARMLESS).why.kind == "reply"
    senses = Foreboding(listener.senses, {"none": 0.0001, "abuse": 0.9999})
    monkeypatch.setattr(listener, "senses", senses)
    monkeypatch.setattr(listener.screen, "threshold", 0.05)  # whatever the reader's weight is today
    reply = listener.respond(HARMLESS)
    assert (reply.why.kind, reply.why.screening["danger"]) == ("crisis", "abuse")
    assert layers(reply.why.screening) == ["ngrams", "reader"]
    assert reply.conversation.labels["safety"]["phase"] == "danger"


def test_a_reader_without_a_risk_head_leaves_the_screening_to_the_other_layers(listener: Listener):
    assert RISK not in listener.senses.reader.card.heads
    assert "reader" not in layers(listener.respond(HARMLESS).why.screening)
    assert listener.respond(CRISIS).why.kind == "crisis"


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


def test_screening_costs_no_encoder_pass_of_its_own(listener: Listener, monkeypatch: pytest.MonkeyPatch):
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
    assert listener.respond(CRISIS).why.kind == "crisis"
    with pytest.raises(AllearsError, match="the encoder is gone"):
        listener.respond(HARMLESS)


def test_several_people_at_once_get_the_screening_of_each_alone(listener: Listener):
    messages = [HARMLESS, CRISIS, "We had soup.", "my husband hits me"]
    together = listener.respond_many(messages, [None] * 4, seeds=[0] * 4)
    for message, reply in zip(messages, together, strict=True):
        alone = listener.respond(message)
        assert (reply.text, reply.why.kind) == (alone.text, alone.why.kind)


def test_the_shipped_reader_reads_the_same_risk_in_a_turn_as_by_itself():
    try:
        selector = OnnxSelector.from_bundle("default")
        reader = OnnxReader.from_bundle("default", selector.encoder, selector.tokenizer)
        head = ReaderHead(reader)
    except AllearsError as error:
        pytest.skip(str(error))
    messages = [CRISIS, HARMLESS, "We had soup on the balcony."]
    texts = selector.encode_contexts([Query((Turn(Role.SEEKER, message),)) for message in messages])
    found = Senses(reader, selector.card.limits).read(texts, texts)
    for message, sensed in zip(messages, found, strict=True):
        assert sensed.risk == pytest.approx(head(message), abs=0.05)  # int8: padding moves the last digits
    assert not any(sensed.in_part for sensed in found)


def test_the_shipped_reader_reads_a_long_message_to_its_end():
    try:
        selector = OnnxSelector.from_bundle("default")
        reader = OnnxReader.from_bundle("default", selector.encoder, selector.tokenizer)
        head = ReaderHead(reader)
    except AllearsError as error:
        pytest.skip(str(error))
    soup = "We had soup on the balcony and the neighbours came by. " * 20
    (text,) = selector.encode_contexts([Query((Turn(Role.SEEKER, soup + CRISIS),))])
    assert Senses(reader, selector.card.limits).read([text], [text])[0].in_part
    assert head(soup + CRISIS)["none"] < head(soup)["none"]
