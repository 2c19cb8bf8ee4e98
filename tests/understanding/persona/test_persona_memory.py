"""What is known about a person, as it grows."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from allears.conversation import Persona, PersonaSentence
from allears.personas.memory import EDITED, merge


def known(*texts: str, source: str = "turn 1") -> Persona:
    return Persona(tuple(PersonaSentence(text, source) for text in texts))


def said(text: str, source: str = "turn 9") -> PersonaSentence:
    return PersonaSentence(text, source)


def test_new_sentences_follow_the_known_ones_in_the_order_they_were_said():
    merged = merge(known("I bake."), [said("I sail."), said("I sing.")])
    assert merged.persona.texts == ("I bake.", "I sail.", "I sing.")
    assert merged.changes == ()


def test_what_is_said_again_in_the_same_words_is_joined_and_keeps_its_first_turn():
    merged = merge(
        known("I have a dog.", "I love tea."),
        [said("i really have a dog"), said("I do have dogs!"), said("I like the tea.")],
    )
    assert merged.persona == known("I have a dog.", "I love tea.")


def test_past_and_present_are_not_joined():
    merged = merge(known("I love trains."), [said("I loved trains."), said("I used to love trams.")])
    assert len(merged.persona.sentences) == 3


def test_a_contradiction_takes_the_older_sentences_place_and_is_recorded():
    before = known("I sing.", "I live in Ghent.", "I have a cat.")
    merged = merge(before, [said("I just moved to Bruges.")])
    assert merged.persona.texts == ("I sing.", "I just moved to Bruges.", "I have a cat.")
    (change,) = merged.changes
    assert change.old == PersonaSentence("I live in Ghent.", "turn 1")
    assert (change.new.text, change.source, change.reason) == (
        "I just moved to Bruges.",
        "turn 9",
        "another home",
    )
    assert change.to_dict() == {
        "old": "I live in Ghent.",
        "new": "I just moved to Bruges.",
        "source": "turn 9",
        "reason": "another home",
    }


def test_one_sentence_may_contradict_several():
    merged = merge(known("I am single.", "I bake.", "I am divorced."), [said("I got married.")])
    assert merged.persona.texts == ("I got married.", "I bake.")
    assert [change.old.text for change in merged.changes] == ["I am single.", "I am divorced."]


def test_sentences_of_one_merge_are_held_against_each_other():
    merged = merge(Persona(), [said("I like tea.", "turn 1"), said("I don't like tea.", "turn 3")])
    assert merged.persona.texts == ("I don't like tea.",)
    assert merged.changes[0].source == "turn 3"


def test_a_persons_own_edit_is_never_overwritten_by_an_extraction():
    own = known("I live in Ghent.", source=EDITED)
    merged = merge(own, [said("I live in Bruges."), said("I bake.")])
    assert merged.persona.texts == ("I live in Ghent.", "I bake.")
    assert merged.changes == ()
    assert [change.new.text for change in merged.refused] == ["I live in Bruges."]


def test_a_person_may_overwrite_what_was_extracted_and_their_own_edit():
    for source in ("turn 1", EDITED):
        merged = merge(known("I live in Ghent.", source=source), [said("I live in Bruges.", EDITED)])
        assert merged.persona == Persona((PersonaSentence("I live in Bruges.", EDITED),))
        assert len(merged.changes) == 1


def test_a_persons_own_wording_replaces_a_twin():
    merged = merge(known("i have dogs"), [said("I have a dog.", EDITED)])
    assert merged.persona.sentences == (PersonaSentence("I have a dog.", EDITED),)
    again = merge(merged.persona, [said("I have dogs.")])
    assert again.persona == merged.persona


def test_texts_without_a_word_are_not_kept():
    assert merge(Persona(), [said(""), said("..."), said("😀")]).persona == Persona()


def alike(*pairs: set[str]):
    """A similarity under which only these pairs say the same."""

    def similarity(sentence: str, others: Sequence[str]) -> list[float]:
        return [0.99 if {sentence, other} in pairs else 0.5 for other in others]

    return similarity


def test_an_embedder_joins_what_is_said_in_other_words():
    pair = {"I want to become a baker.", "I'm training to be a baker."}
    first, second = sorted(pair)
    assert len(merge(known(first), [said(second)]).persona.sentences) == 2
    assert merge(known(first), [said(second)], similarity=alike(pair)).persona == known(first)


def test_an_embedder_is_not_trusted_with_numbers_denials_or_a_single_other_word():
    for first, second in (
        ("I feed 2 ducks.", "I feed 3 ducks."),
        ("I sing in a choir.", "I never sing in any choir."),
        ("I live with my mother.", "I live with my father."),
        ("I have a cat.", "I have a goat."),
        ("I run every morning.", "I run every evening."),
    ):
        merged = merge(known(first), [said(second)], similarity=alike({first, second}))
        assert second in merged.persona.texts, second


def test_below_the_threshold_nothing_is_joined():
    pair = {"I want to become a baker.", "I'm training to be a baker."}
    first, second = sorted(pair)
    merged = merge(known(first), [said(second)], similarity=alike(pair), threshold=0.995)
    assert len(merged.persona.sentences) == 2


SENTENCES = st.sampled_from(
    [
        "I like tea.",
        "I hate tea.",
        "I have a dog.",
        "I have two dogs.",
        "I have no dogs.",
        "I live in Ghent.",
        "I live in Bruges.",
        "I am single.",
        "I am married.",
        "I bake.",
        "I used to bake.",
    ]
)


@given(st.lists(SENTENCES, max_size=8))
def test_merging_again_what_was_kept_changes_nothing(texts: list[str]):
    once = merge(Persona(), [said(text) for text in texts]).persona
    again = merge(once, once.sentences)
    assert again.persona == once
    assert again.changes == ()


@given(st.lists(SENTENCES, max_size=8))
def test_merging_at_once_or_one_by_one_is_the_same(texts: list[str]):
    at_once = merge(Persona(), [said(text) for text in texts])
    persona, changes = Persona(), []
    for text in texts:
        step = merge(persona, [said(text)])
        persona, changes = step.persona, [*changes, *step.changes]
    assert (persona, tuple(changes)) == (at_once.persona, at_once.changes)
