"""What is known about a person: learned with consent, corrected by their own hand, forgotten for good."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allears.conversation import Persona, PersonaSentence
from allears.errors import AllearsError
from allears.memory import Memory, NotFoundError
from talking import ME, exchange, known, say


def test_without_consent_a_new_conversation_knows_nothing(memory: Memory):
    first = memory.start(ME)
    assert known(say(memory, first, "I live in Ghent.", "I live in Ghent.")) == ("I live in Ghent.",)
    assert known(memory.load(ME, memory.start(ME))) == ()
    assert memory.persona(ME) == Persona()
    (sentence,) = memory.sentences(ME)
    assert (sentence.text, sentence.remembered) == ("I live in Ghent.", False)


def test_with_consent_a_new_conversation_knows_what_others_told(memory: Memory):
    memory.set_consent(ME, True)
    assert memory.consent(ME) is True
    first = memory.start(ME)
    say(memory, first, "I live in Ghent.", "I live in Ghent.")
    second = memory.load(ME, memory.start(ME))
    source = f"conversation {first}, turn 1"
    assert second.personas["seeker"].sentences == (PersonaSentence("I live in Ghent.", source),)
    assert memory.persona(ME).sentences == second.personas["seeker"].sentences


def test_agreeing_counts_for_the_conversation_that_goes_on_and_for_no_older_one(memory: Memory):
    old, current = memory.start(ME), memory.start(ME)
    say(memory, old, "I sing.", "I sing.")
    say(memory, current, "I live in Ghent.", "I live in Ghent.")
    memory.set_consent(ME, True)
    assert memory.persona(ME) == Persona()
    say(memory, current, "I have a goat.", "I have a goat.")
    assert memory.persona(ME).texts == ("I live in Ghent.", "I have a goat.")


def test_withdrawing_keeps_conversations_and_drops_what_others_told_them(memory: Memory):
    memory.set_consent(ME, True)
    first = memory.start(ME)
    say(memory, first, "I live in Ghent.", "I live in Ghent.")
    second = memory.start(ME)
    say(memory, second, "I have a goat.", "I have a goat.")
    memory.add_sentence(ME, "I like rye bread.")
    memory.set_consent(ME, False)
    assert memory.persona(ME) == Persona()
    assert known(memory.load(ME, first)) == ("I live in Ghent.",)
    assert known(memory.load(ME, second)) == ("I have a goat.",)
    assert known(memory.load(ME, memory.start(ME))) == ()
    assert {each.text for each in memory.sentences(ME)} == {"I live in Ghent.", "I have a goat."}


def test_what_was_dropped_does_not_come_back_when_the_person_agrees_again(memory: Memory):
    memory.set_consent(ME, True)
    say(memory, memory.start(ME), "I live in Ghent.", "I live in Ghent.")
    memory.set_consent(ME, False)
    memory.set_consent(ME, True)
    assert memory.persona(ME) == Persona()
    assert known(memory.load(ME, memory.start(ME))) == ()


def test_a_conversation_gets_back_what_another_had_replaced_when_the_person_withdraws(memory: Memory):
    memory.set_consent(ME, True)
    first = memory.start(ME)
    say(memory, first, "I live in Ghent.", "I live in Ghent.")
    second = memory.start(ME)
    say(memory, second, "I just moved to Bruges.", "I just moved to Bruges.")
    assert memory.persona(ME).texts == ("I just moved to Bruges.",)
    assert known(memory.load(ME, first)) == ()
    memory.set_consent(ME, False)
    assert known(memory.load(ME, first)) == ("I live in Ghent.",)
    assert known(memory.load(ME, second)) == ("I just moved to Bruges.",)


def test_a_copy_from_before_the_withdrawal_brings_nothing_back(memory: Memory):
    memory.set_consent(ME, True)
    say(memory, memory.start(ME), "I live in Ghent.", "I live in Ghent.")
    second = memory.start(ME)
    copy = memory.load(ME, second)
    memory.set_consent(ME, False)
    memory.append(ME, second, exchange(copy, "Hello."), after=0)
    assert known(memory.load(ME, second)) == ()


def test_a_sentence_keeps_its_id_source_and_history(memory: Memory):
    conversation = memory.start(ME)
    say(memory, conversation, "Hello.")
    say(memory, conversation, "I live in Ghent.", "I live in Ghent.")
    (before,) = memory.sentences(ME)
    assert (before.conversation, before.turn, before.edited, before.history) == (conversation, 3, False, ())
    memory.edit_persona(ME, before.id, " I live near Ghent. ")
    memory.edit_persona(ME, 1, "I live close to Ghent.")
    (after,) = memory.sentences(ME)
    assert (after.id, after.text, after.conversation, after.turn, after.created, after.edited) == (
        before.id, "I live close to Ghent.", conversation, 3, before.created, True,
    )  # fmt: skip
    assert [(each.text, each.reason) for each in after.history] == [
        ("I live in Ghent.", "edited"),
        ("I live near Ghent.", "edited"),
    ]
    persona = memory.load(ME, conversation).personas["seeker"]
    assert persona.sentences == (PersonaSentence("I live close to Ghent.", "edited"),)


def test_a_change_that_was_said_is_in_the_history_with_its_reason(memory: Memory):
    conversation = memory.start(ME)
    say(memory, conversation, "I live in Ghent, I sing.", "I live in Ghent.", "I sing.")
    say(memory, conversation, "I just moved to Bruges.", "I just moved to Bruges.")
    first, second = memory.sentences(ME, conversation=conversation)
    assert (first.text, second.text) == ("I just moved to Bruges.", "I sing.")
    assert [(each.text, each.reason) for each in first.history] == [("I live in Ghent.", "another home")]
    assert first.history[0].until.tzinfo is not None


def test_what_the_person_edited_is_not_overwritten_by_another_conversation(memory: Memory):
    memory.set_consent(ME, True)
    first, second = memory.start(ME), memory.start(ME)
    say(memory, first, "I live in Ghent.", "I live in Ghent.")
    memory.edit_persona(ME, 1, "I live in Antwerp.")
    say(memory, second, "I live in Bruges.", "I live in Bruges.")  # knows nothing of the first
    assert memory.persona(ME).texts == ("I live in Antwerp.",)
    assert known(memory.load(ME, second)) == ("I live in Bruges.",)


def test_what_is_said_in_two_conversations_is_remembered_once(memory: Memory):
    memory.set_consent(ME, True)
    first, second = memory.start(ME), memory.start(ME)
    say(memory, first, "I live in Ghent.", "I live in Ghent.")
    say(memory, second, "I really live in Ghent.", "I really live in Ghent.")
    assert memory.persona(ME).texts == ("I live in Ghent.",)


def test_what_is_said_later_in_another_conversation_replaces_what_is_remembered(memory: Memory):
    memory.set_consent(ME, True)
    first, second = memory.start(ME), memory.start(ME)
    say(memory, first, "I live in Ghent.", "I live in Ghent.")
    copy = memory.load(ME, first)
    say(memory, second, "I just moved to Bruges.", "I just moved to Bruges.")
    assert memory.persona(ME).texts == ("I just moved to Bruges.",)
    memory.append(ME, first, exchange(copy, "Where was I?"), after=2)  # still believes in Ghent
    assert memory.persona(ME).texts == ("I just moved to Bruges.",)


def test_an_edit_holds_in_every_conversation(memory: Memory):
    memory.set_consent(ME, True)
    first, second = memory.start(ME), memory.start(ME)
    say(memory, first, "I live in Ghent.", "I live in Ghent.")
    say(memory, second, "I really live in Ghent.", "I really live in Ghent.")
    third = memory.start(ME)
    memory.edit_persona(ME, 1, "I live in Antwerp.", conversation=second)
    for conversation in (first, second, third):
        assert known(memory.load(ME, conversation)) == ("I live in Antwerp.",)
    assert memory.persona(ME).texts == ("I live in Antwerp.",)


def test_without_consent_an_edit_stays_in_its_conversation(memory: Memory):
    first, second = memory.start(ME), memory.start(ME)
    say(memory, first, "I live in Ghent.", "I live in Ghent.")
    say(memory, second, "I live in Ghent.", "I live in Ghent.")
    memory.edit_persona(ME, 1, "I live in Antwerp.", conversation=second)
    assert known(memory.load(ME, first)) == ("I live in Ghent.",)
    assert known(memory.load(ME, second)) == ("I live in Antwerp.",)


def test_what_is_forgotten_is_forgotten_everywhere_with_all_it_ever_said(memory: Memory):
    memory.set_consent(ME, True)
    first, second = memory.start(ME), memory.start(ME)
    say(memory, first, "I live in Ghent.", "I live in Ghent.")
    say(memory, second, "I really live in Ghent. I sing.", "I really live in Ghent.", "I sing.")
    third = memory.start(ME)
    say(memory, third, "I just moved to Bruges.", "I just moved to Bruges.")
    memory.undo(ME, third)
    say(memory, third, "I moved to Bruges in May.", "I moved to Bruges in May.")
    bruges = next(each for each in memory.sentences(ME) if "Bruges" in each.text)
    assert "I live in Ghent." in [each.text for each in bruges.history]
    memory.forget_sentence(ME, bruges.id)
    assert memory.persona(ME).texts == ("I sing.",)
    assert known(memory.load(ME, third)) == ("I sing.",)


def test_twins_of_a_forgotten_sentence_go_too(memory: Memory):
    first, second = memory.start(ME), memory.start(ME)
    say(memory, first, "I live in Ghent.", "I live in Ghent.")
    say(memory, second, "I really live in Ghent.", "I really live in Ghent.")
    memory.forget_sentence(ME, 1, conversation=first)
    assert memory.sentences(ME) == []


def test_the_next_copy_does_not_bring_back_what_was_forgotten_meanwhile(memory: Memory):
    memory.set_consent(ME, True)
    conversation = memory.start(ME)
    copy = say(memory, conversation, "I live in Ghent. I sing.", "I live in Ghent.", "I sing.")
    memory.forget_sentence(ME, 1)
    updated = exchange(copy, "I have a goat.", learned=["I have a goat."])
    memory.append(ME, conversation, updated, after=2)
    assert known(memory.load(ME, conversation)) == ("I sing.", "I have a goat.")
    again = exchange(updated, "And a cow.", learned=["I have a cow."])
    memory.append(ME, conversation, again, after=4)
    assert memory.persona(ME).texts == ("I sing.", "I have a goat.", "I have a cow.")


def test_what_was_forgotten_can_be_told_again(memory: Memory):
    conversation = memory.start(ME)
    copy = say(memory, conversation, "I sing.", "I sing.")
    memory.forget_sentence(ME, 1)
    without = replace(copy, personas={})
    memory.append(ME, conversation, exchange(without, "I sing!", learned=["I sing."]), after=2)
    (sentence,) = memory.sentences(ME)
    assert (sentence.text, sentence.turn) == ("I sing.", 3)


def test_an_edit_made_while_the_reply_was_written_stands(memory: Memory):
    conversation = memory.start(ME)
    copy = say(memory, conversation, "I live in Ghent.", "I live in Ghent.")
    memory.edit_persona(ME, 1, "I live in Antwerp.")
    memory.add_sentence(ME, "I am called Robin.", conversation=conversation)
    moved = exchange(copy, "I moved to Bruges.", learned=["I moved to Bruges."])
    memory.append(ME, conversation, moved, after=2)
    assert known(memory.load(ME, conversation)) == ("I live in Antwerp.", "I am called Robin.")


def test_the_listener_can_forget_what_the_person_asks_it_to(memory: Memory):
    memory.set_consent(ME, True)
    first = memory.start(ME)
    say(memory, first, "I live in Ghent. I sing.", "I live in Ghent.", "I sing.")
    memory.edit_persona(ME, 1, "I live near Ghent.")
    second = memory.start(ME)
    loaded = memory.load(ME, second)
    left = Persona(tuple(each for each in loaded.personas["seeker"].sentences if "Ghent" not in each.text))
    memory.append(ME, second, replace(exchange(loaded, "Forget that."), personas={"seeker": left}), after=0)
    assert memory.persona(ME).texts == ("I sing.",)
    assert known(memory.load(ME, first)) == ("I sing.",)
    assert "Ghent" not in str(memory.sentences(ME))


def test_what_one_conversation_forgot_another_does_not_bring_back(memory: Memory):
    memory.set_consent(ME, True)
    first = memory.start(ME)
    copy = say(memory, first, "I sing.", "I sing.")
    second = memory.start(ME)
    loaded = memory.load(ME, second)
    memory.append(ME, second, replace(exchange(loaded, "Forget that."), personas={}), after=0)
    memory.append(ME, first, exchange(copy, "Hello again."), after=2)
    assert known(memory.load(ME, first)) == ()
    assert memory.sentences(ME) == []


def test_a_copy_of_ones_own_making_removes_nothing(memory: Memory):
    memory.set_consent(ME, True)
    conversation = memory.start(ME)
    stored = say(memory, conversation, "I sing.", "I sing.")
    bare = replace(stored, personas={}, labels={})
    memory.append(ME, conversation, exchange(bare, "I dance.", learned=["I dance."]), after=2)
    assert memory.persona(ME).texts == ("I sing.", "I dance.")


def test_a_sentence_added_by_hand_replaces_what_it_contradicts(memory: Memory):
    memory.set_consent(ME, True)
    conversation = memory.start(ME)
    say(memory, conversation, "I live in Ghent.", "I live in Ghent.")
    added = memory.add_sentence(ME, "I live in Antwerp.")
    (sentence,) = memory.sentences(ME)
    assert (sentence.id, sentence.edited, sentence.conversation) == (added, True, None)
    assert [each.reason for each in sentence.history] == ["another home"]
    assert known(memory.load(ME, conversation)) == ("I live in Antwerp.",)


def test_a_sentence_that_is_known_takes_the_persons_wording(memory: Memory):
    memory.set_consent(ME, True)
    conversation = memory.start(ME)
    say(memory, conversation, "I really live in Ghent.", "I really live in Ghent.")
    (before,) = memory.sentences(ME)
    assert memory.add_sentence(ME, "I live in Ghent.") == before.id
    assert memory.persona(ME).sentences == (PersonaSentence("I live in Ghent.", "edited"),)


def test_nothing_is_added_across_conversations_before_the_person_agreed(memory: Memory):
    with pytest.raises(AllearsError, match="before you agree"):
        memory.add_sentence(ME, "I live in Antwerp.")
    conversation = memory.start(ME)
    memory.add_sentence(ME, "I live in Antwerp.", conversation=conversation)
    assert known(memory.load(ME, conversation)) == ("I live in Antwerp.",)
    assert known(memory.load(ME, memory.start(ME))) == ()


def test_numbers_are_those_of_the_list(memory: Memory):
    memory.set_consent(ME, True)
    conversation = memory.start(ME)
    say(memory, conversation, "One.", "I sing.", "I have a goat.", "I cook.")
    assert memory.persona(ME).texts == tuple(each.text for each in memory.sentences(ME))
    memory.forget_sentence(ME, "2")
    memory.edit_persona(ME, 2, "I bake.")
    assert memory.persona(ME).texts == ("I sing.", "I bake.")


@pytest.mark.parametrize("which", [0, 2, -1, "2", "ffffffffffffffff", "", "a\0b"])
def test_a_sentence_that_is_not_there_is_not_found(memory: Memory, which: int | str):
    say(memory, memory.start(ME), "I sing.", "I sing.")
    with pytest.raises(NotFoundError, match="there is no sentence"):
        memory.forget_sentence(ME, which)
    with pytest.raises(NotFoundError, match="there is no sentence"):
        memory.edit_persona(ME, which, "I hum.")


def test_a_sentence_needs_words(memory: Memory):
    say(memory, memory.start(ME), "I sing.", "I sing.")
    with pytest.raises(AllearsError, match="needs words"):
        memory.edit_persona(ME, 1, "  ")


def test_deleting_a_conversation_spares_what_the_person_wrote_to_be_remembered(memory: Memory):
    memory.set_consent(ME, True)
    conversation = memory.start(ME)
    say(memory, conversation, "I live in Ghent. I sing.", "I live in Ghent.", "I sing.")
    memory.edit_persona(ME, 1, "I live in Antwerp.")
    memory.delete_conversation(ME, conversation)
    (sentence,) = memory.sentences(ME)
    assert (sentence.text, sentence.conversation, sentence.turn) == ("I live in Antwerp.", None, None)


def test_deleting_a_conversation_brings_back_what_it_had_replaced(memory: Memory):
    memory.set_consent(ME, True)
    first = memory.start(ME)
    say(memory, first, "I live in Ghent.", "I live in Ghent.")
    second = memory.start(ME)
    say(memory, second, "I just moved to Bruges.", "I just moved to Bruges.")
    memory.delete_conversation(ME, second)
    assert memory.persona(ME).texts == ("I live in Ghent.",)


def test_the_order_of_a_conversations_sentences_is_the_writers(memory: Memory):
    conversation = memory.start(ME)
    stored = say(memory, conversation, "Me?", "I sing.", "I have a goat.", "I cook.")
    turned = replace(stored, personas={"seeker": Persona(stored.personas["seeker"].sentences[::-1])})
    memory.append(ME, conversation, turned, after=2)
    assert known(memory.load(ME, conversation)) == ("I cook.", "I have a goat.", "I sing.")
