from __future__ import annotations

import contextlib
import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allears.conversation import Conversation, Example, Persona, PersonaSentence, Role, Turn, as_turns

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
maybe_text = st.none() | text
numbers = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | numbers | text,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(text, children, max_size=3),
    max_leaves=6,
)
turns = st.builds(
    Turn,
    speaker=st.sampled_from(Role),
    text=text,
    author=maybe_text,
    emotion=maybe_text,
    strategy=maybe_text,
    intent=maybe_text,
    feedback=st.none() | st.integers(-5, 5),
)
sentences = st.builds(PersonaSentence, text=text, source=text)
personas = st.lists(sentences, max_size=3).map(lambda items: Persona(tuple(items)))
conversations = st.builds(
    Conversation,
    id=text,
    turns=st.lists(turns, max_size=4).map(tuple),
    personas=st.dictionaries(text, personas, max_size=2),
    emotion=maybe_text,
    situation=maybe_text,
    problem=maybe_text,
    survey=st.dictionaries(text, numbers, max_size=2),
    labels=st.dictionaries(text, json_values, max_size=2),
    split=text,
    source=text,
)


@given(conversations)
def test_a_conversation_survives_a_round_trip_through_json(conversation: Conversation):
    line = conversation.to_json()
    assert "\n" not in line
    assert Conversation.from_json(line) == conversation


def test_empty_fields_are_left_out_of_the_json():
    conversation = Conversation(id="a", turns=(Turn(Role.SEEKER, "Hi."),))
    assert json.loads(conversation.to_json()) == {"id": "a", "turns": [{"speaker": "seeker", "text": "Hi."}]}


def test_people_may_write_persona_sentences_as_plain_texts():
    line = (
        '{"id": "a", "turns": [], "personas": {"seeker": ["i sail", {"text": "i sew", "source": "turn 2"}]}}'
    )
    assert Conversation.from_json(line).personas["seeker"].sentences == (
        PersonaSentence("i sail"),
        PersonaSentence("i sew", "turn 2"),
    )


def test_a_persona_knows_its_texts():
    assert Persona((PersonaSentence("i sail", "profile"),)).texts == ("i sail",)


@pytest.mark.parametrize("value", [Turn(Role.SEEKER, "Hi."), Persona(), Conversation(id="a", turns=())])
def test_nothing_can_be_changed_by_accident(value: Any):
    name = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, name, None)
    assert not hasattr(value, "__dict__")


def test_an_example_has_no_persona_and_no_labels_unless_given():
    example = Example(context=(), response=Turn(Role.SUPPORTER, "Hi."))
    assert example.persona.sentences == ()
    assert example.labels == {}


def test_roles_are_written_as_their_names():
    assert [str(role) for role in Role] == ["seeker", "supporter"]


GOOD: dict[str, Any] = {"id": "a", "turns": [{"speaker": "seeker", "text": "Hi."}]}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": None}, "id must be a text, got NoneType"),
        ({"id": 3}, "id must be a text, got int"),
        ({"turns": None}, "turns must be a list, got NoneType"),
        ({"turns": {}}, "turns must be a list, got dict"),
        ({"turns": ["Hi."]}, "a turn must be an object, got str"),
        ({"turns": [{"text": "Hi."}]}, "speaker must be 'seeker' or 'supporter', got None"),
        (
            {"turns": [{"speaker": "listener", "text": "Hi."}]},
            "must be 'seeker' or 'supporter', got 'listener'",
        ),
        ({"turns": [{"speaker": ["seeker"], "text": "Hi."}]}, "must be 'seeker' or 'supporter'"),
        ({"turns": [{"speaker": "seeker"}]}, "text must be a text, got NoneType"),
        ({"turns": [{"speaker": "seeker", "text": "Hi.", "mood": 1}]}, "unknown field 'mood' in a turn"),
        (
            {"turns": [{"speaker": "seeker", "text": "Hi.", "feedback": "5"}]},
            "feedback must be a whole number",
        ),
        (
            {"turns": [{"speaker": "seeker", "text": "Hi.", "feedback": True}]},
            "feedback must be a whole number",
        ),
        ({"turns": [{"speaker": "seeker", "text": "Hi.", "emotion": 5}]}, "emotion must be a text, got int"),
        ({"personas": []}, "personas must be an object, got list"),
        ({"personas": {"seeker": "i sail"}}, "personas\\['seeker'\\] must be a list, got str"),
        ({"personas": {"seeker": [3]}}, "a persona sentence must be an object, got int"),
        ({"personas": {"seeker": [{"source": "x"}]}}, "a persona sentence's text must be a text"),
        ({"survey": {"empathy": "5"}}, "survey\\['empathy'\\] must be a number, got str"),
        ({"labels": []}, "labels must be an object, got list"),
        ({"split": 1}, "split must be a text, got int"),
        ({"mood": "grey"}, "unknown field 'mood' in a conversation"),
    ],
)
def test_a_field_that_is_wrong_is_named(change: dict[str, Any], problem: str):
    Conversation.from_json(json.dumps(GOOD))
    with pytest.raises(ValueError, match=problem):
        Conversation.from_json(json.dumps(GOOD | change))


@pytest.mark.parametrize("line", ["", "hello", "[]", "3", "null", '{"id":'])
def test_what_is_no_object_is_a_value_error(line: str):
    with pytest.raises(ValueError, match=r"."):
        Conversation.from_json(line)


@given(st.dictionaries(st.sampled_from(sorted(Conversation.__dataclass_fields__)), json_values))
def test_any_other_json_is_a_conversation_or_a_value_error(record: dict[str, Any]):
    with contextlib.suppress(ValueError):
        conversation = Conversation.from_json(json.dumps(record))
        assert Conversation.from_json(conversation.to_json()) == conversation


# --- what may be given as a conversation


@pytest.mark.parametrize(
    "context",
    [
        [Turn(Role.SEEKER, "hi"), Turn(Role.SUPPORTER, "Hello."), Turn(Role.SEEKER, "i lost")],
        ["hi", "Hello.", "i lost"],
        [
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "i lost"},
        ],
    ],
    ids=["turns", "texts", "messages"],
)
def test_turns_texts_and_messages_are_the_same_conversation(context):
    assert as_turns(context) == (
        Turn(Role.SEEKER, "hi"),
        Turn(Role.SUPPORTER, "Hello."),
        Turn(Role.SEEKER, "i lost"),
    )


def test_a_text_or_a_turn_alone_is_one_message():
    assert as_turns("hi") == as_turns(Turn(Role.SEEKER, "hi")) == (Turn(Role.SEEKER, "hi"),)


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ([], "there is no turn to answer"),
        ([{"role": "wizard", "content": "x"}], "message 1 must have a role"),
        ([{"role": "user", "content": ["x"]}], "a content that is a text"),
        ([3], "turn 1 must be a text, a Turn or a message, got int"),
    ],
)
def test_what_is_no_conversation_says_why(context, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        as_turns(context)
