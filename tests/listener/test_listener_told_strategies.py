"""The listener's reading of what to do next knows what it did before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from allears.conversation import Role, Turn
from allears.corpora.heads import head, strategy_reading
from allears.errors import AllearsError
from allears.listener.senses import Sensed, Senses
from allears.runtime.onnx_reader import OnnxReader
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.selector import Query


@pytest.fixture(scope="module")
def shipped() -> tuple[OnnxSelector, OnnxReader]:
    try:
        selector = OnnxSelector.from_bundle("default")
        reader = OnnxReader.from_bundle("default", selector.encoder, selector.tokenizer)
    except AllearsError as error:
        pytest.skip(str(error))
    if not reader.card.informed:
        pytest.skip("the bundle's reader has no informed head")
    return selector, reader


def talk(*strategies: str) -> list[Turn]:
    turns = [Turn(Role.SEEKER, "The landlord wants us out by June.")]
    for strategy in strategies:
        turns.append(Turn(Role.SUPPORTER, "That is a lot to carry.", strategy=strategy))
        turns.append(Turn(Role.SEEKER, "It is, and the children ask every day."))
    return turns


def sensed(shipped: tuple[OnnxSelector, OnnxReader], turns: Sequence[Turn]) -> Sensed:
    selector, reader = shipped
    queries = [Query(tuple(turns)), Query(tuple(turns[-1:]))]
    conversation, message = selector.encode_contexts(queries)
    (found,) = Senses(reader, selector.card.limits).read([conversation], [message], [turns])
    return found


def test_what_was_done_before_changes_what_is_likely_next_and_nothing_else(shipped):
    asked, suggested = (sensed(shipped, talk(*[name] * 2)) for name in ("Question", "Providing Suggestions"))
    assert asked.emotions == suggested.emotions
    assert asked.risk == suggested.risk
    assert dict(asked.strategies) != dict(suggested.strategies)


def test_it_is_what_the_strategy_head_says_of_the_whole_conversation(shipped):
    _, reader = shipped
    turns = talk("Question", "Reflection of feelings")
    strategy = head("strategy")
    (expected,) = reader.probabilities(strategy, [strategy_reading(turns)])
    found = dict(sensed(shipped, turns).strategies)
    np.testing.assert_allclose([found[name] for name in strategy.labels], expected, atol=0.05)  # int8


def test_several_conversations_are_each_told_their_own_facts(shipped):
    selector, reader = shipped
    talks = [talk("Question"), talk(), talk("Others", "Information")]
    encoded = selector.encode_contexts(
        [Query(tuple(part)) for turns in talks for part in (turns, turns[-1:])]
    )
    together = Senses(reader, selector.card.limits).read(encoded[::2], encoded[1::2], talks)
    for turns, found in zip(talks, together, strict=True):
        alone = dict(sensed(shipped, turns).strategies)
        assert dict(found.strategies) == pytest.approx(alone, abs=0.02)
