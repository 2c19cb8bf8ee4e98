"""Which language a message is in, and what is said to one that is not English."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from allears.conversation import Role
from allears.corpora import read
from allears.listener.languages import known_languages, language_of, reply_in

ROWS = [
    json.loads(line) for line in (Path(__file__).parent / "languages.jsonl").read_text("utf-8").splitlines()
]
WITHOUT_BLANKS = ("zh", "ja", "th")
ENGLISH_BEFORE = ["i have been feeling down this week"]
SPANISH = "hola, me siento muy solo aquí y no sé con quién hablar"


def test_thirty_languages_have_ten_sentences_each():
    assert set(Counter(row["language"] for row in ROWS).values()) == {10}
    assert {row["language"] for row in ROWS} == set(known_languages()) - {"hi-Latn"}
    assert len(known_languages()) == 31


def test_sentences_of_five_words_are_found():
    long = [r for r in ROWS if r["language"] in WITHOUT_BLANKS or len(r["text"].split()) >= 5]
    missed = [row for row in long if language_of(row["text"]) != row["language"]]
    assert len(long) > 200
    assert len(missed) <= 0.05 * len(long), missed


def test_what_people_write_in_english_is_english():
    messages = [
        turn.text
        for talk in read("talks", "valid")
        if talk.labels["kind"] != "other language"
        for turn in talk.turns
        if turn.speaker is Role.SEEKER
    ]
    assert len(messages) > 1000
    alarms = [message for message in messages if language_of(message) != "en"]
    assert len(alarms) <= 0.001 * len(messages), alarms


@pytest.mark.parametrize(
    "message",
    [
        "", "   ", "ok", "lol", "haha no", "no no no no no",
        "😂😂😂", "!!! ???", "1234 5678 910", "hola", "merci", "Bonjour!",
        "C'est la vie", "mi jefe me gritó", "la la la la la", "asdf asdf jkl qwe poi",
        "Maria Fernanda Gonzalez Lopez", "Johann Sebastian Bach", "nguyen van anh",
        "u rly dont kno me lmao", "idk tbh ngl", "gonna luv u 4eva bby xx", "nah fam dat aint it chief",
        "aye lad nowt wrong wi that", "och aye the wee bairn is greetin", "dis iz sooo borin m8",
        "i don suffer today o. patient wig fall inside bedpan", "tired. hungry. sad.", "tall. i felt tall",
        "Paracetamol ibuprofen amoxicillin", "photosynthesis mitochondria chloroplast",
        "I had sushi, ramen, udon and tempura", "he told me te quiero mucho and left",
        "my nonna always said chi va piano va sano e va lontano", "sorry my english bad, yo hablo español",
        "父は元気です but my mother is sick and i worry", "def main(): return x + 1",
        "SELECT * FROM users WHERE id = 3;", "for (int i = 0; i < n; i++) { sum += a[i]; }",
        "`ich bin so traurig heute, niemand ist da`", "www.example.com/de/ich-bin-so-traurig-heute",
    ],
)  # fmt: skip
def test_short_mixed_and_odd_messages_count_as_english(message: str):
    assert language_of(message) == "en"


@pytest.mark.parametrize(
    ("message", "language"),
    [
        (SPANISH, "es"),
        ("ICH BIN SO TRAURIG HEUTE", "de"),
        ("jeg er meget træt og ked af det i dag", "no"),  # Danish: answered in Norwegian
        ("salam, saya nak cerita sikit pasal kawan saya", "id"),  # Malay: answered in Indonesian
        ("yaar neend nahi aati. ghar ki bahut yaad aa rahi hai", "hi-Latn"),
        ("我今年七十九歲，成日唔記得嘢，好驚", "zh"),
        ("dnes jsem velmi unavená a smutná, nemůžu spát", "cs"),  # known to the library, not in the table
        ("ሰላም! ዛሬ በጣም ደስ ብሎኛል። ልጄ በመዘምራን ውስጥ ገባች", "am"),
    ],
)
def test_another_language_is_named(message: str, language: str):
    assert language_of(message) == language


def test_one_foreign_phrase_after_english_does_not_stop_anybody():
    assert language_of(SPANISH, ENGLISH_BEFORE) == "en"


def test_a_second_foreign_message_in_a_row_is_a_change_of_language():
    assert language_of(SPANISH, [*ENGLISH_BEFORE, "estoy muy cansado y no puedo dormir"]) == "es"


def test_short_messages_before_do_not_make_somebody_english():
    assert language_of(SPANISH, ["ok", "hola"]) == "es"
    assert language_of(SPANISH, [SPANISH]) == "es"


def test_who_goes_on_in_english_is_heard():
    assert language_of("ok i try english. my english is bad", [SPANISH]) == "en"


def test_every_language_says_it_in_its_own_words_with_or_without_the_number():
    said = [reply_in(language) for language in known_languages()]
    assert len(set(said)) == len(said)
    for language in known_languages():
        plain, with_number = reply_in(language), reply_in(language, "GB")
        assert "{" not in plain
        assert "(" not in plain
        assert with_number.replace(" (999)", "") == plain
        assert with_number != plain


def test_most_replies_are_in_the_language_they_are_for():
    codes = [code for code in known_languages() if code != "hi-Latn"]
    assert [code for code in codes if language_of(reply_in(code)) != code] == []


@pytest.mark.parametrize("country", [None, "", "XX", "ZZ", "nowhere"])
def test_without_a_country_that_is_listed_no_number_is_named(country: str | None):
    assert reply_in("de", country) == reply_in("de")


def test_the_first_of_several_numbers_is_named_in_lower_case_countries_too():
    assert "(119)" in reply_in("ja", "jp")


def test_a_language_without_a_sentence_is_answered_in_english():
    assert reply_in("cs").startswith("I only speak English so far.")
