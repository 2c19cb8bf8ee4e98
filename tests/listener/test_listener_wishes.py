"""What a person may ask of a reply: a strategy; and the persona that the listener itself speaks with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.errors import AllearsError
from allears.labels import STRATEGIES
from allears.listener.contract import IN_CHARACTER, PLAIN, Proposal, Wish
from allears.listener.listener import Listener
from allears.listener.personas import case_study, lines_in_character, presets
from allears.listener.ranking import Moment, rank
from allears.safety.review import review

REPLIES = (
    "Speaking in front of how many people?",
    "What happened?",
    "How long has it been like that?",
    "That sounds hard.",
    "What would help you to sleep?",
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
    found = next(each for each in reply.why.candidates if each.proposal.source != PLAIN)
    assert any("own persona" in note for note in found.notes)


def test_without_a_persona_of_its_own_nothing_changes(listener: Listener):
    plain = listener.respond("my dog is lost", Conversation("x", ()))
    empty = listener.respond("my dog is lost", speaking_as())
    assert (plain.text, plain.why.candidates) == (empty.text, empty.why.candidates)
    assert plain.why.listener_persona == ()
    assert not any(item.proposal.source == IN_CHARACTER for item in plain.why.candidates)


def test_more_persona_than_is_read_is_no_error(listener: Listener):
    many = [f"I know thing number {number} very well." for number in range(60)]
    assert listener.respond("my dog is lost", speaking_as(*many)).text


def test_the_country_of_the_person_counts_in_an_answer_to_danger(listener: Listener):
    danger = "I want to kill myself tonight."
    assert "In New Zealand" in listener.respond(danger, speaking_as(country="NZ")).text
    assert listener.respond(danger, speaking_as(country="XX")).text  # help lines anyway


# --- ranking in character


def moment(text: str, emotion: str) -> Moment:
    return Moment((Turn(Role.SEEKER, text),), ((emotion, 1.0),), (("Question", 1.0),), "exploration")


def proposals() -> list[Proposal]:
    return [
        Proposal("What happened to your dog?", "pool", "Question"),
        Proposal("Something was pulled out by the root.", IN_CHARACTER, "Question", ("sad",)),
        Proposal("The harbour was in sight.", IN_CHARACTER, "Question", ("sad",)),
    ]


def test_a_line_in_character_goes_before_one_that_is_out_of_character():
    scores, own = np.zeros(3, np.float32), np.array([0.0, 3.0, -3.0], np.float32)
    ranked = rank(proposals(), scores, moment("my dog died", "sad"), own=own)
    assert [item.proposal.text[:9] for item in ranked] == ["Something", "What happ", "The harbo"]


def test_a_line_in_character_needs_the_mood_it_was_written_for():
    scores, own = np.zeros(3, np.float32), np.array([0.0, 3.0, -3.0], np.float32)
    glad = moment("it went well", "joyful")
    assert rank(proposals(), scores, glad, own=own)[0].proposal.source == "pool"


# --- the shipped personas


def test_every_shipped_line_passes_our_own_review():
    refused = [line.text for line in lines_in_character() if not review(line.text).ok]
    assert refused == []


def test_no_shipped_line_speaks_of_a_life_of_its_own():
    claims = [
        line.text
        for line in lines_in_character()
        if any(
            word in f" {line.text} " for word in (" my ", " My ", "I have", "I am ", "I was", "I've", "I'm")
        )
    ]
    assert claims == []


def test_the_case_study_has_three_different_answers_each_in_character(tmp_path: Path):
    pool = tmp_path / "pool.jsonl"
    pool.write_text("".join(json.dumps({"text": text, "strategy": "Question"}) + "\n" for text in REPLIES))
    shipped = Listener.from_bundle(pools=[pool], shipped=False, cache=tmp_path, voice="retrieval")
    study = case_study()
    replies = [shipped.respond(study.message, speaking_as(*each.sentences)) for each in study.personas]
    assert len({reply.text for reply in replies}) == 3
    assert [reply.why.candidates[0].proposal.source for reply in replies] == [IN_CHARACTER] * 3


def test_the_presets_are_different_and_the_case_study_has_three_of_them():
    names = [preset.id for preset in presets()]
    assert len(set(names)) == len(names) >= 6
    assert len(case_study().personas) == 3
    assert all(sentence.startswith(("I ", "My ")) for preset in presets() for sentence in preset.sentences)
