"""What a person may ask of a reply: a strategy; and the persona that the listener itself speaks with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.errors import AllearsError
from allears.labels import STRATEGIES
from allears.listener.choosing import OWN_WEIGHT
from allears.listener.contract import Wish
from allears.listener.listener import Listener
from allears.listener.personas import case_study, presets
from allears.runtime.selector import Query
from made_up_danger import phrases_alone  # noqa: F401

# One reply for everybody, and one that takes its picture from each of the case study's three.
REPLIES = (
    "What happened?",
    "Think of it as practice with your team: one small step of training, then the next.",
    "Every orchestra knows these nerves before a concert, and still the first quiet notes come.",
    "Worry grows fast, like weeds in a garden after rain. Which one would you pull out first?",
)


def speaking_as(*sentences: str, **labels: str) -> Conversation:
    own = Persona(tuple(PersonaSentence(sentence) for sentence in sentences))
    return Conversation("x", (), personas={"supporter": own}, labels=labels)


@pytest.mark.parametrize("strategy", ["Question", "Providing Suggestions", "Reflection of feelings"])
def test_a_reply_of_the_wished_strategy_is_given(listener: Listener, strategy: str):
    reply = listener.respond("my dog is lost", wish=Wish(strategy))
    assert reply.why.strategy == strategy
    assert reply.why.wished == strategy
    assert len(reply.why.strategies) == 8  # what would have been chosen is still told


def test_where_nothing_of_the_kind_is_there_another_reply_is_given(listener: Listener):
    reply = listener.respond("my dog is lost", wish=Wish("Information"))
    assert reply.why.wished == "Information"
    assert reply.why.strategy in STRATEGIES
    assert reply.text == listener.respond("my dog is lost").text


def test_a_wish_is_not_stored_and_not_remembered(listener: Listener):
    first = listener.respond("my dog is lost", wish=Wish("Providing Suggestions"))
    assert "Providing" not in json.dumps(dict(first.conversation.labels))
    second = listener.respond("it is still lost", first.conversation)
    assert second.why.wished == ""


def test_a_strategy_that_does_not_exist_is_one_sentence(listener: Listener):
    with pytest.raises(AllearsError, match="there is no strategy 'Shouting'; there are: Question"):
        listener.respond("my dog is lost", wish=Wish("Shouting"))


def test_wishes_of_several_people_are_their_own(listener: Listener):
    wishes = [Wish("Question"), Wish(), Wish("Providing Suggestions")]
    together = listener.respond_many(
        ["my dog is lost"] * 3, [None, speaking_as("I garden."), None], seeds=[0] * 3, wishes=wishes
    )
    alone = [
        listener.respond("my dog is lost", conversation, wish=wish)
        for conversation, wish in zip([None, speaking_as("I garden."), None], wishes, strict=True)
    ]
    assert [reply.text for reply in together] == [reply.text for reply in alone]
    assert [reply.why.wished for reply in together] == ["Question", "", "Providing Suggestions"]


def test_the_wish_does_not_get_past_the_review(listener: Listener):
    for seed in range(5):
        reply = listener.respond("hello there", wish=Wish("Others"), seed=seed)
        assert "human" not in reply.text


def test_the_listeners_own_persona_is_ranked_with_and_kept_apart_from_the_persons(listener: Listener):
    conversation = speaking_as("I spend my days in a garden.", "I am patient.")
    first = listener.respond("I have a cat.", conversation)
    reply = listener.respond("my dog is lost", first.conversation)
    shares = {use.text: use.weight for use in reply.why.listener_persona}
    assert set(shares) == {"I spend my days in a garden.", "I am patient."}
    assert sum(shares.values()) == pytest.approx(1, abs=1e-3)
    assert [use.text for use in reply.why.persona] == ["I have a cat."]
    assert reply.why.persona[0].source == "turn 1"
    assert reply.conversation.personas["supporter"] == conversation.personas["supporter"]


def test_a_reply_that_fits_the_listeners_own_persona_goes_up(listener: Listener):
    """What the persona adds to a candidate's worth is how much better it fits with that persona than without."""
    message = "my dog is lost"
    plain = {each.proposal.text: each.score for each in listener.respond(message).why.candidates}
    mine = speaking_as("I have a dog who is my friend.")
    in_character = {each.proposal.text: each.score for each in listener.respond(message, mine).why.candidates}
    queries = [
        Query((Turn(Role.SEEKER, message),)),
        Query((Turn(Role.SEEKER, message),), mine.personas["supporter"].texts),
    ]
    texts = sorted(plain.keys() & in_character.keys())
    encoded = listener.selector.encode_responses(texts)
    every = np.tile(np.arange(len(texts)), (2, 1))
    without, having = listener.selector.score(queries, encoded, every)
    for text, part in zip(texts, having - without, strict=True):
        assert in_character[text] - plain[text] == pytest.approx(OWN_WEIGHT * part, abs=1e-3)
    assert max(abs(having - without)) > 1e-3


def test_without_a_persona_of_its_own_nothing_changes(listener: Listener):
    plain = listener.respond("my dog is lost", Conversation("x", ()))
    empty = listener.respond("my dog is lost", speaking_as())
    assert (plain.text, plain.why.candidates) == (empty.text, empty.why.candidates)
    assert plain.why.listener_persona == ()


def test_more_persona_than_is_read_is_no_error(listener: Listener):
    many = [f"I know thing number {number} very well." for number in range(60)]
    assert listener.respond("my dog is lost", speaking_as(*many)).text


def test_the_country_of_the_person_counts_in_an_answer_to_danger(listener: Listener):
    danger = "I want to kill myself tonight."
    assert "In New Zealand" in listener.respond(danger, speaking_as(country="NZ")).text
    assert listener.respond(danger, speaking_as(country="XX")).text  # help lines anyway


# --- the shipped personas


def test_the_presets_are_different_and_the_case_study_has_three_of_them():
    names = [preset.id for preset in presets()]
    assert len(set(names)) == len(names) >= 6
    assert len(case_study().personas) == 3
    assert all(sentence.startswith(("I ", "My ")) for preset in presets() for sentence in preset.sentences)


@pytest.mark.usefixtures("phrases_alone")
def test_the_case_study_has_three_different_answers_each_in_character(tmp_path: Path):
    cards = tmp_path / "cards.jsonl"
    cards.write_text("".join(json.dumps({"text": text, "strategy": "Question"}) + "\n" for text in REPLIES))
    shipped = Listener.from_bundle(pools=[cards], shipped=False, cache=tmp_path, voice="chosen")
    study = case_study()
    replies = [shipped.respond(study.message, speaking_as(*each.sentences)).text for each in study.personas]
    assert [persona.id for persona in study.personas] == ["coach", "musician", "gardener"]
    assert replies == list(REPLIES[1:])
