"""What moves a proposal up or down, and that everything that does is noted."""

from __future__ import annotations

import numpy as np

from allears.conversation import Role, Turn
from allears.listener.contract import Proposal
from allears.listener.ranking import Moment, Weights, rank

EVEN = tuple((name, 1 / 8) for name in ("Question", "Affirmation and Reassurance", "Providing Suggestions"))


def moment(*texts: str, emotions=(("sad", 1.0),), strategies=EVEN, stage="exploration") -> Moment:
    roles = (Role.SEEKER, Role.SUPPORTER)
    turns = tuple(Turn(roles[place % 2], text) for place, text in enumerate(texts))
    return Moment(turns, emotions, strategies, stage)


def order(proposals, at: Moment, scores=None) -> list[str]:
    given = np.zeros(len(proposals), np.float32) if scores is None else np.array(scores, np.float32)
    return [item.proposal.text for item in rank(proposals, given, at)]


def test_the_score_decides_among_equals():
    assert order([Proposal("One.", "pool"), Proposal("Two.", "pool")], moment("I feel low"), [1, 2]) == [
        "Two.",
        "One.",
    ]


def test_what_was_said_is_never_said_again():
    again = Proposal("What happened?", "pool")
    other = Proposal("How are you now?", "pool")
    assert order([again, other], moment("It was bad", "What happened?", "He left"), [9, 0]) == [
        "How are you now?"
    ]


def test_nearly_the_same_words_fall_far_back():
    twin = Proposal("Can you tell me what happened there?", "pool")
    fresh = Proposal("Who was with you?", "pool")
    assert order([twin, fresh], moment("Bad day", "Can you tell me what happened?", "no"))[0] == fresh.text


def test_nobody_is_told_of_a_death_that_was_not_spoken_of():
    grave = Proposal("The one you loved has died. What was she like?", "pool", strategy="Question")
    other = Proposal("What do you miss most?", "pool", strategy="Question")
    assert order([grave, other], moment("We were together for six years"), [3, 0])[0] == other.text
    assert order([grave, other], moment("She passed away in May"), [3, 0])[0] == grave.text


def test_what_was_just_told_is_not_asked_for():
    asking = Proposal("How long were you two together?", "pool")
    other = Proposal("What do you miss most?", "pool")
    assert order([asking, other], moment("He left me", "Oh", "We had six years"), [2, 0])[0] == other.text
    assert order([asking, other], moment("He left me"), [2, 0])[0] == asking.text
    many = Proposal("How many times have you told him?", "pool")
    assert order([many, other], moment("I told him three times already"), [2, 0])[0] == other.text


def test_a_reply_that_presumes_falls_behind_one_that_does_not():
    presuming = Proposal("Your dog was lucky to have you.", "pool")
    open_ended = Proposal("Who was it that you lost?", "pool")
    assert order([presuming, open_ended], moment("I lost somebody"))[0] == open_ended.text
    assert order([presuming, open_ended], moment("My dog died"))[0] == presuming.text


def test_a_question_that_begins_with_what_was_not_said_falls_behind_one_that_only_asks():
    presuming = Proposal("Your hours have been cut by half. What now?", "pool", strategy="Question")
    asking = Proposal("What is the first thing that worries you?", "pool", strategy="Question")
    assert order([presuming, asking], moment("I got laid off"))[0] == asking.text
    assert order([presuming, asking], moment("They cut my hours by half"))[0] == presuming.text


def test_nobody_is_told_when_it_was():
    presuming = Proposal("What happened this morning?", "pool", strategy="Question")
    asking = Proposal("What happened?", "pool", strategy="Question")
    assert order([presuming, asking], moment("I shouted at my kids"))[0] == asking.text
    assert order([presuming, asking], moment("I shouted at them this morning"))[0] == presuming.text


def test_nobody_is_told_how_long_it_was():
    presuming = Proposal("Three months is a good while. What changed?", "pool", strategy="Question")
    asking = Proposal("What changed?", "pool", strategy="Question")
    assert order([presuming, asking], moment("We were together for three years"), [1, 0])[0] == asking.text
    assert order([presuming, asking], moment("It has been three months"), [1, 0])[0] == presuming.text


def test_nobody_is_told_that_they_did_what_they_say_they_did_not():
    presuming = Proposal("You wrote to your boss.", "pool", strategy="Restatement or Paraphrasing")
    other = Proposal("That is unfair.", "pool")
    assert order([presuming, other], moment("I didn't even write to my boss"), [1, 0])[0] == other.text
    assert order([presuming, other], moment("I did write to my boss"), [1, 0])[0] == presuming.text


def test_a_written_reply_that_is_not_near_is_doubted():
    written = Proposal("What was the old piano like?", "pool", strategy="Question")
    said_back = Proposal("You sold it. What was it like?", "reflection", strategy="Question")
    now = moment("We sold the old piano")
    for near, best in ((0.9, written), (0.4, said_back)):
        ranked = rank(
            [written, said_back], np.zeros(2, np.float32), now, near=np.array([near, near], np.float32)
        )
        assert ranked[0].proposal == best


def test_who_was_fired_had_a_job():
    about_work = Proposal("What was the job like?", "pool", strategy="Question")
    other = Proposal("What was it like?", "pool", strategy="Question")
    assert order([about_work, other], moment("I was fired"))[0] == about_work.text
    assert order([about_work, other], moment("I am tired"))[0] == other.text


def test_comfort_is_not_for_the_happy():
    comfort = Proposal("This is a heavy day.", "pool", emotions=("sad",))
    joy = Proposal("This is a great day!", "pool", emotions=("joyful",))
    assert order([comfort, joy], moment("I won", emotions=(("joyful", 0.9), ("proud", 0.1))))[0] == joy.text
    assert (
        order([joy, comfort], moment("I lost", emotions=(("sad", 0.9), ("devastated", 0.1))))[0]
        == comfort.text
    )


def test_the_wanted_strategy_and_stage_win():
    wanted = (("Question", 0.7), ("Providing Suggestions", 0.1))
    asking = Proposal("Why?", "pool", strategy="Question", stage="exploration")
    advising = Proposal("Try this.", "pool", strategy="Providing Suggestions", stage="action")
    assert order([advising, asking], moment("Bad day", strategies=wanted))[0] == "Why?"


def test_farewells_wait_for_the_end():
    farewell = Proposal("Take care, and come back whenever you like.", "pool", stage="ending")
    question = Proposal("What happened?", "pool", stage="exploration")
    assert order([farewell, question], moment("Bad day"), [1, 0])[0] == question.text


def test_every_part_is_noted_and_adds_up():
    proposal = Proposal("Your dog was family.", "pool", emotions=("sad",), stage="comforting")
    (only,) = rank([proposal], np.array([3.0], np.float32), moment("I lost somebody"), Weights())
    assert {note.rsplit(" ", 1)[0] for note in only.notes} >= {"emotion", "for the comforting stage"}
    assert any("nobody spoke of" in note and "dog" in note for note in only.notes)
    assert only.score == 3.0
    assert abs(only.adjusted - sum(float(note.rsplit(" ", 1)[1]) for note in only.notes)) < 0.05


def test_one_pet_is_not_taken_for_another():
    mistaken = Proposal("A home without your cat is quieter than it should be.", "pool")
    plain = Proposal("What is the evening like?", "pool")
    assert order([mistaken, plain], moment("My dog died"), [3, 1])[0] == plain.text
    assert order([mistaken, plain], moment("My cat died"), [3, 1])[0] == mistaken.text


def test_what_somebody_came_to_speak_of_is_taken_up_by_name_even_in_the_possessive():
    named = Proposal("What was your dog's way of greeting you?", "pool", strategy="Question")
    vague = Proposal("What was that like for you?", "pool", strategy="Question")
    assert order([vague, named], moment("My dog died"))[0] == named.text


def test_a_first_question_had_better_hear_first():
    bare = Proposal("How long has it been?", "pool", strategy="Question")
    heard = Proposal("That sounds heavy. How long has it been?", "pool", strategy="Question")
    assert order([bare, heard], moment("I feel low"))[0] == heard.text
    assert order([bare, heard], moment("I feel low", stage="comforting"))[0] == bare.text
