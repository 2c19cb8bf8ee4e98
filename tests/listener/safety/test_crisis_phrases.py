"""Outright phrases in English, and how the plainest danger of other languages is written down."""

from __future__ import annotations

from pathlib import Path

import pytest

from allears.errors import AllearsError
from allears.safety import phrases
from allears.safety.dangers import Danger
from allears.safety.phrases import (
    DangerPhrase,
    compile_fragment,
    find_in_other_languages,
    find_outright,
    normalised,
    other_languages,
    outright_phrases,
)

# --- outright, in English


@pytest.mark.parametrize("phrase", outright_phrases(), ids=lambda phrase: phrase.said)
def test_every_phrase_has_a_reason_and_finds_its_own_example(phrase: DangerPhrase):
    assert len(phrase.reason.split()) >= 3
    found = find_outright(phrase.said.capitalize())
    assert found is not None
    assert phrase.find.search(phrase.said)
    assert found.phrase.danger is phrase.danger


@pytest.mark.parametrize(
    ("said", "danger"),
    [
        ("I really just want to die.", Danger.SUICIDE),
        ("i dont wanna be here anymore", Danger.SUICIDE),
        ("I don’t want to wake up.", Danger.SUICIDE),
        ("I am going to\n hang myself", Danger.SUICIDE),
        ("i might off myself", Danger.SUICIDE),
        ("I will drown myself in the river", Danger.SUICIDE),
        ("I'm thinking about ending my life", Danger.SUICIDE),
        ("I've been thinking of committing suicide", Danger.SUICIDE),
        ("I took all of them an hour ago", Danger.OVERDOSE),
        ("I swallowed the whole bottle", Danger.OVERDOSE),
        ("i took too many of my mums sleeping pills", Danger.OVERDOSE),
        ("I overdosed on my heart pills", Danger.OVERDOSE),
        ("I cut myself again last night", Danger.SELF_HARM),
        ("my boyfriend choked me", Danger.ABUSE),
        ("My girlfriend beats me up", Danger.ABUSE),
        ("he says he'll kill me if I ever leave", Danger.ABUSE),
        ("my stepdad touches me", Danger.CHILD),
        ("i want to stab him", Danger.HARM_TO_OTHERS),
        ("i want to shoot people at that school", Danger.HARM_TO_OTHERS),
    ],
)
def test_what_is_said_outright_is_found(said: str, danger: Danger):
    found = find_outright(said)
    assert found is not None
    assert found.phrase.danger is danger


@pytest.mark.parametrize(
    "said",
    [
        "I'm dying to see you.",
        "I'm dying of laughter, send another.",
        "This heat is killing me.",
        "These shoes are killing me tonight.",
        "I could kill for a coffee.",
        "I could murder a pizza.",
        "He beat me at chess again.",
        "My brother beats me at everything.",
        "My wife hits me in a snowball fight every winter.",
        "My boyfriend hits me up whenever he is bored.",
        "My husband hit me with a pillow and we laughed.",
        "My brother kicks me out of his room.",
        "My mum hit me with the news at breakfast.",
        "She will kill me if I forget her birthday.",
        "They'll kill me when they see the kitchen.",
        "My phone died again.",
        "I nearly died of embarrassment.",
        "I laughed so hard I wanted to die.",
        "I'm killing myself laughing.",
        "I've been killing myself at the gym.",
        "I shot myself in the foot with that email.",
        "Don't shoot yourself in the foot.",
        "I'd only shoot myself in the foot.",
        "I am drowning myself in work.",
        "I took the day off myself.",
        "I took my life savings out of the bank.",
        "I want to take my life back.",
        "It's time to take my life seriously.",
        "I took all my exams in one week.",
        "I took the whole week off.",
        "I took too many photos of the cat.",
        "I took all the kids to the zoo.",
        "I took them all to the zoo.",
        "I took all the blame.",
        "I overdosed on chocolate at Easter.",
        "In the play both of them commit suicide.",
        "I need to cut myself some slack.",
        "I want to cut myself a slice of that cake.",
        "I cut myself again shaving.",
        "I burn myself every time I bake.",
        "I want to shoot some hoops.",
        "I want to shoot my next film in Spain.",
        "I want to shoot him a message.",
        "I want to kill time before the train.",
        "We killed two birds with one stone.",
        "I don't want to live in Hull anymore.",
        "I don't want to be here all day, the queue is endless.",
        "I want to diet.",
        "Suicide squeeze, bottom of the ninth!",
        "My ex texts me every night.",
        "I want to dye my hair green.",
        "",
    ],
)
def test_everyday_idioms_are_nothing_outright(said: str):
    assert find_outright(said) is None


def test_the_words_that_were_found_are_quoted():
    found = find_outright("Well.   I just WANT\tto die, you know")
    assert found is not None
    assert found.words == "i just want to die"


# --- other languages


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("  ¡Quiero MORIR!  ", "quiero morir"),
        ("je n’en peux plus", "je nen peux plus"),
        ("Je n'en peux plus", "je nen peux plus"),
        ("Straße, Öl; Café", "strasse ol cafe"),
        ("ｋｉｌｌ　ｍｅ", "kill me"),
        ("снег идёт", "снег идет"),
        ("Θέλω", "θελω"),
        ("أُرِيدُ", "اريد"),
        ("مـــوت", "موت"),
        ("死にたい。がんばれない", "死にたい がんばれない"),
        ("죽고 싶어!", "죽고 싶어"),
        ("मैं मरना चाहता हूँ", "मैं मरना चाहता हूँ"),
        ("อยากตาย", "อยากตาย"),
        ("snake_case", "snake case"),
        ("\ud800 oh", "oh"),
        ("😭", ""),
    ],
)
def test_case_accents_and_marks_are_no_difference(typed: str, plain: str):
    assert normalised(typed) == normalised(plain) == plain


@pytest.mark.parametrize(
    ("fragment", "language", "message", "expected"),
    [
        ("quiero morir", "es", "¡Ya quiero morir!", True),
        ("quiero morir", "es", "quiero morirme", False),  # whole words
        ("quiero morir-", "es", "quiero morirme ya", True),
        ("suicid-", "es", "pensamientos suicidas", True),
        ("suicid-", "es", "nosuicida", False),
        ("(quiero|deseo) morir", "es", "deseo morir", True),
        ("(quiero|deseo) morir", "es", "puedo morir", False),
        ("(ganas|deseos) de (morir-|matar-)", "es", "tengo ganas de matarme", True),
        ("quiero ~ morir", "es", "quiero ya morir", True),
        ("quiero ~ morir", "es", "quiero morir", True),
        ("quiero ~ morir", "es", "quiero de una vez morir", True),
        ("quiero ~ morir", "es", "quiero vivir bien y después morir", False),  # four words between
        ("quiero~morir", "es", "quiero ya morir", True),
        ("^morir", "es", "morir quiero", True),
        ("^morir", "es", "quiero morir", False),
        ("je n'en peux plus", "fr", "Je n’en peux plus…", True),
        ("想死", "zh", "我真的想死了", True),  # no blanks: anywhere
        ("想~死", "zh", "我想马上去死", True),
        ("想 ~ 死", "zh", "我想马上去死", True),
        ("想~死", "zh", "我想吃饭然后去看书再说死", False),  # more than six signs between
        ("^想死", "zh", "我想死", False),
        ("^想死", "zh", "想死", True),
        ("(自杀|自殺)", "zh", "我想自殺", True),
        ("죽고 싶", "ko", "정말 죽고 싶어요", True),
    ],
)
def test_a_fragment_finds_what_it_says(fragment: str, language: str, message: str, expected: bool):
    found = compile_fragment(fragment, language).search(f" {normalised(message)} ")
    assert (found is not None) is expected


def test_the_table_of_other_languages_can_be_read_and_is_used():
    assert {phrase.language for phrase in other_languages()} >= {"es"}
    found = find_in_other_languages("No puedo más. ¡Quiero morir!")
    assert found is not None
    assert (found.phrase.language, found.phrase.danger) == ("es", Danger.SUICIDE)
    assert find_in_other_languages("I had a quiet day.") is None


@pytest.mark.parametrize(
    ("name", "read", "content", "sentence"),
    [
        ("outright.toml", outright_phrases, '[[phrase]]\ndanger = "boredom"', "not the table of outright"),
        ("outright.toml", outright_phrases, '[[phrase]]\ndanger = "suicide"', "not the table of outright"),
        (
            "outright.toml",
            outright_phrases,
            '[[phrase]]\ndanger = "abuse"\nfind = "("\nreason = "r"\nsaid = "s"',
            "not the table of outright",
        ),
        ("outright.toml", outright_phrases, "= 3", "install allears again"),
        ("other_languages.toml", other_languages, "es = 3", "not the table of phrases"),
        ("other_languages.toml", other_languages, '[es]\nboredom = ["x"]', "not the table of phrases"),
        ("other_languages.toml", other_languages, '[es]\nabuse = ["(x"]', "not the table of phrases"),
    ],
)
def test_a_broken_table_is_one_sentence(
    name: str, read, content: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.setattr(phrases, "files", lambda _: tmp_path)
    with pytest.raises(AllearsError, match=sentence) as raised:
        read.__wrapped__()
    assert name in str(raised.value)
    assert "\n" not in str(raised.value)
