"""What annotation adds to conversations, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora.heads import HEADS, Head
from allears.errors import AllearsError
from allears.evaluation.annotate import AddAct, AddEmotion, AddIntent, AddMechanisms, AddPersona
from allears.labels import ED_EMOTIONS, INTENTS
from allears.personas.copying import CopyingExtractor
from allears.text.reading import Reading

SEEKER, SUPPORTER = Role.SEEKER, Role.SUPPORTER


def talk(*turns: tuple[Role, str], **more: Any) -> Conversation:
    return Conversation("t", tuple(Turn(role, text) for role, text in turns), source="mine", **more)


class ByWord:
    """Says the label that is named in the text, otherwise the first; remembers what it read."""

    def __init__(self) -> None:
        self.read: list[tuple[str, str]] = []

    def probabilities(self, head: Head, readings: Sequence[Reading]) -> np.ndarray:
        self.read += [(head.name, reading.text) for reading in readings]
        found = np.zeros((len(readings), len(head.labels)))
        for row, reading in enumerate(readings):
            named = [head.labels.index(word) for word in reading.text.split() if word in head.labels]
            found[row, named[0] if named else 0] = 1
        return found


LONG = talk(
    (SEEKER, "Hello."),
    (SUPPORTER, "Hi there."),
    (SEEKER, "I live in Ghent."),
    (SEEKER, "I have a goat."),
    (SUPPORTER, "Oh."),
    (SEEKER, "I just moved to Bruges."),
)


def test_persona_is_kept_by_turn_as_pesconv_has_it():
    (found,) = AddPersona(CopyingExtractor(), "copy")([LONG])
    assert found.personas["seeker"] == Persona(
        (PersonaSentence("I just moved to Bruges.", "turn 6"), PersonaSentence("I have a goat.", "turn 4"))
    )
    # after the third seeker turn and the fourth
    assert found.labels["persona_by_turn"] == [
        ["I live in Ghent.", "I have a goat."],
        ["I just moved to Bruges.", "I have a goat."],
    ]
    assert found.labels["persona_changes"] == [
        {
            "old": "I live in Ghent.",
            "new": "I just moved to Bruges.",
            "source": "turn 6",
            "reason": "another home",
        }
    ]
    assert found.labels["annotated_by"] == {"persona": "copy"}
    assert found.turns == LONG.turns
    assert Conversation.from_json(found.to_json()) == found


def test_several_seekers_have_a_persona_each():
    turns = (Turn(SEEKER, "I sing.", "ann"), Turn(SEEKER, "I bake.", "bob"), Turn(SUPPORTER, "I nod.", "cem"))
    known = {"cem": Persona((PersonaSentence("I nap."),))}
    (found,) = AddPersona(CopyingExtractor(), "copy")([Conversation("t", turns, known)])
    assert {who: persona.texts for who, persona in found.personas.items()} == {
        "cem": ("I nap.",),
        "ann": ("I sing.",),
        "bob": ("I bake.",),
    }
    assert "persona_by_turn" not in found.labels


def test_emotion_is_read_from_everything_the_seekers_say():
    model = ByWord()
    talks = [
        talk((SEEKER, "I feel proud"), (SUPPORTER, "how sad"), (SEEKER, "so much")),
        talk((SUPPORTER, "anybody here?")),
    ]
    first, second = AddEmotion(model, "m")(talks)
    assert model.read == [("ed-emotion-turns", "I feel proud so much")]
    assert (first.emotion, second.emotion) == ("proud", None)
    assert (first.labels, second.labels) == ({"annotated_by": {"emotion": "m"}}, {})
    assert first.emotion in ED_EMOTIONS


def test_emotions_may_come_in_groups():
    (found,) = AddEmotion(ByWord(), "m", head="ed-emotion-16")([talk((SEEKER, "sad+devastated"))])
    assert found.emotion == "sad+devastated"
    with pytest.raises(AllearsError, match="emotions are given by"):
        AddEmotion(ByWord(), "m", head="strategy")


def test_only_the_supporters_turns_get_an_intent():
    model = ByWord()
    (found,) = AddIntent(model, "m")(
        [talk((SEEKER, "wishing"), (SUPPORTER, "wishing you well"), (SUPPORTER, "hm"))]
    )
    assert [turn.intent for turn in found.turns] == [None, "wishing", HEADS["intent"].labels[0]]
    assert set(HEADS["intent"].labels) == set(INTENTS)
    assert [text for _, text in model.read] == ["wishing you well", "hm"]


def test_every_turn_gets_an_act():
    (found,) = AddAct(ByWord(), "m")([talk((SEEKER, "a question"), (SUPPORTER, "commissive then"))])
    assert found.labels["acts_by_turn"] == ["question", "commissive"]
    assert found.labels["annotated_by"] == {"act": "m"}
    with pytest.raises(AllearsError, match="has acts already"):
        AddAct(ByWord(), "m")([found])


def test_a_post_and_its_response_are_judged_as_epitome_has_it():
    (found,) = AddMechanisms(ByWord(), "m")([talk((SEEKER, "It hurts."), (SUPPORTER, "level 2 for you"))])
    assert found.labels["explorations"] == {"level": 2}
    assert {"emotional_reactions", "interpretations", "explorations", "annotated_by"} == set(found.labels)
    (reading,) = HEADS["epitome-explorations"].readings([found])
    assert reading.label == "2"


def test_in_longer_conversations_every_response_is_judged_with_what_it_answers():
    model = ByWord()
    (found,) = AddMechanisms(model, "m")(
        [
            talk(
                (SUPPORTER, "Welcome."),
                (SEEKER, "It hurts."),
                (SEEKER, "Badly."),
                (SUPPORTER, "Oh no."),
                (SUPPORTER, "Where? 1"),
                (SEEKER, "Here."),
                (SUPPORTER, "I see."),
            )
        ]
    )
    by_turn = found.labels["mechanisms_by_turn"]
    assert [bool(levels) for levels in by_turn] == [False, False, False, True, True, False, True]
    assert by_turn[4]["interpretations"] == {"level": 1}
    asked = [text for head, text in model.read if head == "epitome-explorations"]
    assert asked == ["It hurts. Badly. Oh no.", "It hurts. Badly. Where? 1", "Here. I see."]


@pytest.mark.parametrize(
    ("make", "has"),
    [
        (lambda **more: AddPersona(CopyingExtractor(), "m", **more), {"personas": {"seeker": Persona()}}),
        (lambda **more: AddPersona(CopyingExtractor(), "m", **more), {"labels": {"persona_by_turn": [[]]}}),
        (lambda **more: AddEmotion(ByWord(), "m", **more), {"emotion": "sad"}),
        (lambda **more: AddMechanisms(ByWord(), "m", **more), {"labels": {"explorations": {"level": 1}}}),
    ],
)
def test_what_is_there_already_is_only_replaced_when_asked(make: Any, has: dict[str, Any]):
    had = talk((SEEKER, "I sing."), (SUPPORTER, "Oh."), **has)
    with pytest.raises(AllearsError, match=r"mine 't' has .* already; pass --replace"):
        make()([had])
    (found,) = make(replace_old=True)([had])
    assert found != had


def test_given_intents_are_only_replaced_when_asked():
    had = Conversation("t", (Turn(SEEKER, "Hm."), Turn(SUPPORTER, "Oh.", intent="wishing")))
    with pytest.raises(AllearsError, match="the conversation 't' has an intent already"):
        AddIntent(ByWord(), "m")([had])
    (found,) = AddIntent(ByWord(), "m", replace_old=True)([had])
    assert found.turns[1].intent != "wishing"


def test_additions_remember_each_other():
    (once,) = AddEmotion(ByWord(), "one")([LONG])
    (twice,) = AddIntent(ByWord(), "two")([once])
    assert twice.labels["annotated_by"] == {"emotion": "one", "intent": "two"}
