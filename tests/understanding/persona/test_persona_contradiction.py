"""Sentences that cannot both be true now, and those that can."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allears.personas.contradiction import contradiction
from allears.personas.plain import plain_words, stem
from allears.personas.slots import SlotClaim, claims

OPPOSED = [
    # likes and dislikes
    ("I like cats.", "I don't like cats."),
    ("I love my job.", "I hate my job."),
    ("I enjoy swimming.", "I don't like to swim anymore."),
    ("I'm a big fan of jazz.", "I can't stand jazz."),
    ("I am not into cars.", "I am into cars."),
    ("My son loves school.", "My son hates school."),
    ("i don t like tea", "i like tea"),
    # plain denial
    ("I smoke.", "I used to smoke."),
    ("I smoke.", "I quit smoking."),
    ("I used to smoke.", "I started smoking."),
    ("I have a dog.", "I no longer have a dog."),
    ("I can swim.", "I can't swim."),
    ("I have been to Paris.", "I have never been to Paris."),
    ("I go to church.", "I never go to church."),
    ("I was in the army.", "I was never in the army."),
    ("I take vitamins.", "I don’t take any vitamins."),
    # one value at a time
    ("My name is Anna.", "My name's Maria."),
    ("I am 25 years old.", "I'm twenty-six."),
    ("I am 25.", "I just turned 26."),
    ("I live in Texas.", "I live in Ohio."),
    ("I live in Ghent with my mother.", "I just moved to Bruges."),
    ("We live in Norway.", "We moved from Norway to the Netherlands."),
    ("I am from Spain.", "I come from Italy."),
    ("I work as a nurse.", "I work as a teacher."),
    ("I am a nurse.", "I'm working as a teacher now."),
    ("I work at a bakery.", "I work at the harbour."),
    ("My favorite color is blue.", "My favourite colour is green."),
    ("I have brown hair.", "I dyed my hair red."),
    # how many
    ("I have two children.", "I have three kids."),
    ("I have 2 kids.", "I don't have any kids."),
    ("I don't have a dog.", "I have a dog."),
    ("I have one brother.", "I have two brothers."),
    ("I have no sisters.", "I have a sister."),
    # few values
    ("I am single.", "I got married!"),
    ("I'm single", "I have a girlfriend."),
    ("I am married.", "I'm divorced."),
    ("I have a boyfriend.", "I broke up with my boyfriend."),
    ("I work as a cashier.", "I lost my job."),
    ("I'm unemployed.", "I found a new job."),
    ("I am a vegetarian.", "I eat meat."),
    ("I am a morning person.", "I am a night owl."),
    ("I am sad.", "I feel happy."),
]

BOTH_TRUE = [
    ("I like cats.", "I like dogs."),
    ("I like cats.", "I don't like dogs."),
    ("I like tea.", "I love tea."),
    ("I like swimming.", "I don't like swimming in the sea."),
    ("My mother likes cats.", "I don't like cats."),
    ("I look like my mother.", "I don't like my mother."),
    ("I would like to travel.", "I don't like to travel."),
    ("I smoked.", "I don't smoke."),
    ("I used to smoke.", "I don't smoke."),
    ("I can swim.", "I don't swim."),
    ("I need help.", "I don't need money."),
    ("I have no idea.", "I have an idea about it."),
    ("I am not tall.", "I am not old."),
    ("I live in Texas.", "I live in Austin."),
    ("I live in Austin, Texas.", "I live in Texas."),
    ("I live in Ghent.", "I live in a small house."),
    ("I live in Ghent.", "I live with my mother."),
    ("I moved to a new apartment.", "I live in Ghent."),
    ("I live in fear.", "I live in Ghent."),
    ("I used to live in Ghent.", "I live in Bruges."),
    ("I was born in Ohio.", "I live in Texas."),
    ("I am from Spain.", "I live in Italy."),
    ("I am 25.", "I am 6 feet tall."),
    ("I have a dog.", "I have two dogs."),
    ("I have two cats.", "I have two dogs."),
    ("I have two black cats.", "I have three cats."),
    ("I have one of my books here.", "I have two books."),
    ("I work as a nurse.", "I also work as a waitress."),
    ("I am a nurse.", "I am a mother."),
    ("I work at a hospital.", "I work as a nurse."),
    ("I work at home.", "I work at a bakery."),
    ("I am a vet.", "I work as a veterinarian."),
    ("I work at a ship yard.", "I work at a shipyard."),
    ("I am single.", "I am divorced."),
    ("I have an ex-boyfriend.", "I'm single."),
    ("I am in a relationship.", "I got engaged."),
    ("I am married.", "I have two kids."),
    ("I don't work.", "I got a job offer."),
    ("My favorite color is blue.", "My favorite food is soup."),
    ("My favorite food is not soup.", "My favorite food is rice."),
    ("", "I am here."),
    ("😀", "🙃"),
]


@pytest.mark.parametrize(("old", "new"), OPPOSED)
def test_a_later_sentence_contradicts_an_older_one(old: str, new: str):
    assert contradiction(old, new)


@pytest.mark.parametrize(("first", "second"), BOTH_TRUE)
def test_two_sentences_can_both_be_true_in_either_order(first: str, second: str):
    assert contradiction(first, second) is None
    assert contradiction(second, first) is None


def test_a_sentence_without_end_is_compared_quickly():
    endless = "i moved from " + "to and from " * 9_000
    assert contradiction(endless, "I live in Ghent.") is None
    assert contradiction("I like " + "tea " * 25_000, "I hate " + "tea " * 25_000)


def test_the_reason_names_what_changed():
    assert contradiction("I live in Ghent.", "I live in Bruges.") == "another home"
    assert contradiction("I have two cats.", "I have three cats.") == "another number"
    assert contradiction("I like tea.", "I hate tea.") == "what they like changed"
    assert contradiction("I can sing.", "I can't sing.") == "the opposite was said"


@given(st.text(max_size=60))
def test_no_text_contradicts_itself(text: str):
    assert contradiction(text, text) is None


WORDS = [
    "i",
    "my",
    "not",
    "like",
    "hate",
    "have",
    "2",
    "a",
    "dog",
    "live",
    "in",
    "ghent",
    "no",
    "never",
    "used",
    "to",
    "am",
    "work",
    "as",
    "single",
]


@given(st.lists(st.sampled_from(WORDS), max_size=9))
def test_no_row_of_the_rules_own_words_contradicts_itself(words: list[str]):
    assert contradiction(" ".join(words), " ".join(words)) is None


def test_contractions_are_written_out_and_numbers_become_digits():
    assert plain_words("I'm thirty-five; don t ask, it isn’t my mother's.") == (
        ["i", "am", "35", "do", "not", "ask", "it", "is", "not", "my", "mother"]
    )
    assert plain_words("") == []


@pytest.mark.parametrize(
    "forms",
    [
        ("study", "studies", "studied", "studying"),
        ("love", "loves", "loved", "loving"),
        ("run", "runs", "ran", "running"),
        ("child", "children"),
        ("live", "lives", "lived", "living"),
        ("teach", "teaches", "taught", "teaching"),
    ],
)
def test_inflected_forms_share_a_stem(forms: tuple[str, ...]):
    assert len({stem(form) for form in forms}) == 1


def test_a_sentence_may_claim_several_things():
    assert set(claims("I work at a bakery.")) == {
        SlotClaim("employer", "bakeri"),
        SlotClaim("employment", "working"),
    }
    assert claims("It rained all day.") == ()
