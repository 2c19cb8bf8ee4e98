"""The fixed replies and the help lines they name."""

from __future__ import annotations

import datetime
import locale
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allears.errors import AllearsError
from allears.safety import replies
from allears.safety.dangers import Danger, Phase, SafetyState, Screening
from allears.safety.replies import (
    checked_country,
    countries,
    danger_answered,
    fixed_reply,
    gentle_question,
    help_for,
    international,
)
from allears.safety.review import review

OwnLines = Callable[[str], Path]
OWN = """
[[country]]
code = "IE"
name = "Ireland"
emergency = "our own number"
[[country.line]]
for = "crisis"
name = "Our house"
reach = "knock at number 7"
hours = "any time"
source = "https://example.org/"
"""


def screening(danger: Danger, turn: int = 1, *, for_another: bool = False) -> Screening:
    state = SafetyState(Phase.DANGER, danger, turn, for_another=for_another)
    return Screening(danger, 0.9, (), state, "danger")


def table() -> dict[str, Any]:
    path = files("allears.safety") / "help_lines.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def later(danger: Danger) -> list[str]:
    return [each["text"].strip() for each in replies._texts()[danger.value]["later"]]


def conversation(danger: Danger, turns: int, **options: Any) -> list[str]:
    """The replies to a danger that goes on."""
    said: list[str] = []
    for turn in range(1, turns + 1):
        said.append(fixed_reply(screening(danger, turn), said=said, country="GB", **options))
    return said


# --- the texts


@pytest.mark.parametrize("danger", Danger)
def test_every_danger_has_its_texts_and_every_later_one_says_when(danger: Danger):
    written = replies._texts()[danger.value]
    assert set(written) == {"first", "for_another", "question", "later"}
    assert len(written["later"]) >= 2
    for each in written["later"]:
        assert set(each) == {"when", "text"}
        assert len(each["when"]) >= 3
        assert all(example == example.lower() and example.strip() for example in each["when"])
    assert len(set(later(danger))) == len(later(danger))
    assert gentle_question(danger).endswith("?")
    assert gentle_question(danger).count("?") == 1


@pytest.mark.parametrize("for_another", [False, True])
@pytest.mark.parametrize("danger", Danger)
def test_the_first_reply_names_the_emergency_number_and_people_to_reach(danger: Danger, for_another: bool):
    text = fixed_reply(screening(danger, for_another=for_another), country="GB")
    assert "999" in text
    assert "In the United Kingdom:" in text
    assert "0808 2000 247" in text if danger is Danger.ABUSE else "116 123" in text
    assert "{" not in text


@pytest.mark.parametrize("danger", Danger)
def test_every_text_is_short_enough_to_be_read_by_somebody_in_distress(danger: Danger):
    written = replies._texts()[danger.value]
    for text in (written["first"], written["for_another"], *later(danger)):
        assert 20 <= len(text.split()) <= 75, text


@pytest.mark.parametrize("danger", Danger)
def test_the_first_reply_says_plainly_that_this_is_a_program(danger: Danger):
    assert "I'm a program" in fixed_reply(screening(danger), country="US")


def test_worry_about_somebody_else_is_answered_as_such():
    own, other = (fixed_reply(screening(Danger.SUICIDE, for_another=who)) for who in (False, True))
    assert "Are you thinking of ending your life right now?" in own
    assert "Are you thinking of ending your life right now?" not in other
    assert "whether they are thinking of ending their life" in other


def test_who_took_something_is_told_the_poison_line_before_others(own_lines: OwnLines):
    poison = OWN + (
        '[[country.line]]\nfor = "poison"\nname = "Poisons"\nreach = "call 5"\nhours = "any"\nsource = "s"\n'
    )
    own_lines(poison)
    text = fixed_reply(screening(Danger.OVERDOSE), country="IE")
    assert text.index("Poisons") < text.index("Our house")
    assert "Poisons" not in fixed_reply(screening(Danger.SUICIDE), country="IE")


@pytest.mark.parametrize("danger", Danger)
def test_a_later_text_that_speaks_of_lines_below_is_followed_by_them(danger: Danger):
    for text in conversation(danger, 6)[1:]:
        assert ("\n- " in text) is ("below" in text), text


def test_the_way_out_of_a_false_alarm_is_told_but_not_in_the_first_breath():
    first, *others = conversation(Danger.SUICIDE, 4)
    assert "If I misread you" not in first
    assert all("If I misread you" in text for text in others)


def test_the_texts_pass_our_own_review():
    written = replies._texts()
    texts = [written["misread"], *map(gentle_question, Danger)]
    for danger in Danger:
        texts += [written[danger.value]["first"], written[danger.value]["for_another"], *later(danger)]
    assert [(text, review(text).reasons) for text in texts if not review(text).ok] == []


def test_without_a_danger_by_name_the_question_is_about_ones_life():
    assert gentle_question(None) == gentle_question(Danger.SUICIDE)


def test_a_calm_message_and_a_doubt_have_no_fixed_reply():
    for answer in (None, "question"):
        with pytest.raises(ValueError, match="needs no fixed reply"):
            fixed_reply(Screening(Danger.ABUSE, 0.0, (), SafetyState(), answer))


# --- which of the later texts


def towards(*wanted: str) -> Callable[[Sequence[str]], np.ndarray]:
    """Vectors by which the message is nearest to these examples, the first of them most."""

    def vectors(texts: Sequence[str]) -> np.ndarray:
        near = {example: 1 - place / 10 for place, example in enumerate(wanted)}
        cosines = [near.get(text, 0.1) for text in texts[1:]]
        # lengths differ, and must not count
        rows = [[5 * cosine, 5 * (1 - cosine**2) ** 0.5] for cosine in cosines]
        return np.array([[2.0, 0.0], *rows], np.float32)

    return vectors


def test_the_later_text_whose_examples_are_nearest_to_what_was_said_comes():
    found = fixed_reply(screening(Danger.SUICIDE, 2), message="it rings", vectors=towards("it's ringing"))
    assert found.startswith("That is the right thing, and it takes courage.")
    found = fixed_reply(screening(Danger.SUICIDE, 2), message="so alone", vectors=towards("i'm scared"))
    assert found.startswith("I'm here.")


def test_the_message_is_compared_with_every_example_of_the_texts_that_may_come():
    asked: list[str] = []

    def vectors(texts: Sequence[str]) -> np.ndarray:
        asked.extend(texts)
        return np.ones((len(texts), 3))

    fixed_reply(screening(Danger.EATING, 2), message="What now?", vectors=vectors)
    written = replies._texts()["eating"]["later"]
    assert asked == ["What now?", *(example for each in written for example in each["when"])]


@pytest.mark.parametrize("danger", Danger)
def test_none_comes_twice_before_all_have_come(danger: Danger):
    count, nearest = len(later(danger)), replies._texts()[danger.value]["later"][-1]["when"][0]
    for options in ({}, {"message": "again", "vectors": towards(nearest)}):
        _, *others = conversation(danger, 2 * count + 1, **options)
        assert len(set(others[:count])) == count
        assert len(set(others[count:])) == count
    assert others[0].startswith(later(danger)[-1].partition("{")[0])  # the nearest first


def test_without_vectors_the_texts_come_in_their_order():
    _, *others = conversation(Danger.SELF_HARM, 4, message="it's bleeding")
    starts = [text.partition("{")[0] for text in later(Danger.SELF_HARM)]
    assert all(text.startswith(start) for text, start in zip(others, starts, strict=True))


def test_vectors_that_fail_are_told_and_a_text_is_said_all_the_same():
    def vectors(texts: Sequence[str]) -> np.ndarray:
        raise RuntimeError("the encoder is gone")

    with pytest.warns(UserWarning, match="could not be compared with the message: the encoder is gone"):
        found = fixed_reply(screening(Danger.ABUSE, 2), message="he is home", vectors=vectors)
    assert found.startswith(later(Danger.ABUSE)[0].partition("{")[0])


@pytest.mark.parametrize("country", ["GB", "JP", None])
@pytest.mark.parametrize("danger", Danger)
def test_our_texts_are_known_again_whatever_number_they_name(danger: Danger, country: str | None):
    said = [fixed_reply(screening(danger, for_another=True), country=country)]
    for turn in range(1, len(later(danger)) + 2):
        said.append(fixed_reply(screening(danger, turn), said=said, country=country))
    assert [danger_answered(text) for text in said] == [danger] * len(said)


@pytest.mark.parametrize(
    "text", ["", "Please call your mother.", "Good.", "I'm here.", "Thank you for telling me.", "Pick one."]
)
def test_what_only_begins_like_one_of_our_texts_is_none(text: str):
    assert danger_answered(text) is None


# --- help lines


@pytest.fixture
def fresh() -> Iterator[None]:
    """Help lines are read once; here they are read again."""
    caches = (replies._lines, replies._all, replies.countries)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.fixture
def own_lines(fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OwnLines:
    """Name a file of one's own with this text in it."""

    def write(text: str) -> Path:
        path = tmp_path / "lines.toml"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setenv(replies.OWN_LINES, str(path))
        return path

    return write


def test_every_entry_has_its_source_and_its_date():
    for entry in (table()["international"], *table()["country"]):
        assert isinstance(entry["written"], datetime.date)
        assert {"crisis", "abuse"} <= {line["for"] for line in entry["line"]} <= {"crisis", "abuse", "poison"}
        for line in entry["line"]:
            assert line["source"].startswith("https://")
            assert line["name"]
            assert line["hours"]
            assert re.match(r"(call|text|see) ", line["reach"])


def test_there_are_at_least_25_countries_with_codes_of_their_own():
    codes = [country["code"] for country in table()["country"]]
    assert len(codes) == len(set(codes)) >= 25
    assert all(re.fullmatch("[A-Z]{2}", code) for code in codes)


def test_the_file_says_that_it_must_be_checked_before_it_is_relied_on():
    text = (files("allears.safety") / "help_lines.toml").read_text(encoding="utf-8")
    assert "CHECK EVERY ENTRY BEFORE YOU DEPLOY" in text


@pytest.mark.parametrize(
    ("named", "code", "emergency"),
    [("nz", "NZ", "111"), (" ie ", "IE", "112"), ("UK", "GB", "999"), ("uk", "GB", "999")],
)
def test_a_country_may_be_named_as_people_do(named: str, code: str, emergency: str):
    assert checked_country(named) == code
    assert emergency in help_for(named).emergency


def test_no_country_is_asked_of_the_machine(fresh: None, monkeypatch: pytest.MonkeyPatch):
    def never(*_: object) -> None:
        raise AssertionError("asked")

    monkeypatch.setenv("LANG", "en_GB.UTF-8")
    monkeypatch.setenv("LC_ALL", "en_GB.UTF-8")
    for name in ("getlocale", "getdefaultlocale", "setlocale"):
        if hasattr(locale, name):
            monkeypatch.setattr(locale, name, never)
    people = help_for()
    assert people == international() == help_for("ZZ")
    assert people.place == "Wherever you are"
    assert "local emergency number" in people.emergency
    assert "findahelpline.com" in people.crisis[0].reach
    assert checked_country(None) is None
    assert checked_country("ZZ") == "ZZ"


def test_a_country_that_is_not_listed_is_an_error_that_says_what_to_do():
    for ask in (help_for, checked_country):
        with pytest.raises(
            AllearsError, match=r"no help lines are listed for the country 'XX'.*international lines"
        ):
            ask("XX")


@pytest.mark.parametrize("country", ["XX", "", "  ", "Atlantis", "🏴"])
@pytest.mark.parametrize("turn", [1, 2])
def test_a_fixed_text_is_said_whatever_the_country(country: str, turn: int):
    assert "your local emergency number" in fixed_reply(screening(Danger.SUICIDE, turn), country=country)


def test_a_file_of_ones_own_goes_before_ours_country_by_country(own_lines: OwnLines):
    own_lines(OWN)
    assert help_for("IE").emergency == "our own number"
    assert [line.name for line in help_for("IE").crisis] == ["Our house"]
    assert "knock at number 7" in fixed_reply(screening(Danger.SUICIDE), country="IE")
    assert help_for("GB").emergency == "999"
    assert "findahelpline.com" in international().crisis[0].reach
    assert list(countries()).count("IE") == 1


def test_a_file_of_ones_own_may_bring_another_country_or_only_international_lines(own_lines: OwnLines):
    own_lines(OWN.replace('"IE"', '"XX"').replace("Ireland", "Atlantis"))
    assert help_for("XX").place == "In Atlantis"
    assert "IE" in countries()
    own_lines(
        OWN.replace("[[country]]", "[international]").replace("[[country.line]]", "[[international.line]]")
    )
    for cache in (replies._lines, replies._all, replies.countries):
        cache.cache_clear()
    assert international().emergency == "our own number"
    assert help_for("GB").emergency == "999"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[[country", "your help lines cannot be read"),
        (OWN.replace('emergency = "our own number"', ""), "lacks 'emergency'"),
        (OWN.replace('hours = "any time"', ""), "lacks 'hours'"),
        (OWN.replace('code = "IE"', ""), "lacks 'code'"),
        ('[international]\nemergency = "1"\n', "lacks 'line'"),
        ("country = 3", "laid out as in help_lines.toml"),
    ],
)
def test_a_broken_file_of_ones_own_stops_the_start_and_never_a_reply(
    content: str, sentence: str, own_lines: OwnLines
):
    path = own_lines(content)
    with pytest.raises(AllearsError, match=sentence) as raised:
        checked_country(None)
    assert str(path) in str(raised.value)
    assert "your local emergency number" in fixed_reply(screening(Danger.SUICIDE), country="IE")


def test_a_file_of_ones_own_that_is_not_there_is_one_sentence(own_lines: OwnLines):
    own_lines(OWN).unlink()
    with pytest.raises(AllearsError, match=r"lines\.toml: your help lines cannot be read"):
        checked_country("IE")
