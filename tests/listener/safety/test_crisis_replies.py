"""The fixed replies and the help lines they name."""

from __future__ import annotations

import datetime
import re
import tomllib
from importlib.resources import files
from itertools import pairwise
from typing import Any

import pytest

from allears.errors import AllearsError
from allears.safety import replies
from allears.safety.dangers import Danger, Phase, SafetyState, Screening
from allears.safety.replies import fixed_reply, help_for, international
from allears.safety.review import review


def screening(danger: Danger, turn: int, *, for_another: bool = False) -> Screening:
    state = SafetyState(Phase.DANGER, danger, turn, for_another)
    return Screening(danger, 0.9, (), state, "danger")


def table() -> dict[str, Any]:
    path = files("allears.safety") / "help_lines.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("for_another", [False, True])
@pytest.mark.parametrize("turn", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("danger", Danger)
def test_every_reply_names_the_emergency_number_and_people_to_reach(
    danger: Danger, turn: int, for_another: bool
):
    text = fixed_reply(screening(danger, turn, for_another=for_another), country="GB")
    assert "999" in text
    assert "0808 2000 247" in text if danger is Danger.ABUSE else "116 123" in text
    assert "{" not in text
    words = text.partition("\n")[0].split()
    assert 25 <= len(words) <= 80  # short enough to be read by somebody in distress


@pytest.mark.parametrize("for_another", [False, True])
@pytest.mark.parametrize("danger", Danger)
def test_the_first_reply_says_plainly_that_this_is_a_program(danger: Danger, for_another: bool):
    assert "I'm a program" in fixed_reply(screening(danger, 1, for_another=for_another), country="US")


@pytest.mark.parametrize("danger", Danger)
def test_nobody_is_answered_twice_in_a_row_in_the_same_words(danger: Danger):
    texts = [fixed_reply(screening(danger, turn), country="US") for turn in range(1, 9)]
    assert all(one != next_one for one, next_one in pairwise(texts))
    assert len(set(texts)) >= 4


def test_the_way_out_of_a_false_alarm_is_told_but_not_in_the_first_breath():
    assert "If I misread you" not in fixed_reply(screening(Danger.SUICIDE, 1), country="US")
    assert "If I misread you" in fixed_reply(screening(Danger.SUICIDE, 2), country="US")


def test_worry_about_somebody_else_is_answered_as_such():
    own, other = (
        fixed_reply(screening(Danger.SUICIDE, 1, for_another=who), country="US") for who in (False, True)
    )
    assert "Are you thinking of ending your life?" in own
    assert "Are you thinking of ending your life?" not in other


def test_the_check_back_is_gentle_and_worded_differently_the_second_time():
    first, second = (
        fixed_reply(
            Screening(Danger.ABUSE, 0.0, (), SafetyState(Phase.CHECKING, Danger.ABUSE, turn), "check-back")
        )
        for turn in (1, 2)
    )
    assert first != second
    assert first.endswith("enough.")
    assert "safe" in second


def test_a_calm_message_has_no_fixed_reply():
    with pytest.raises(ValueError, match="needs no fixed reply"):
        fixed_reply(Screening(None, 0.0, (), SafetyState()))


def test_the_replies_pass_our_own_review():
    written = replies._texts()
    texts = [*written["check_back"], written["misread"]]
    for danger in Danger:
        texts += [
            written[danger.value]["first"],
            written[danger.value]["for_another"],
            *written[danger.value]["later"],
        ]
    assert [(text, review(text).reasons) for text in texts if not review(text).ok] == []


def test_every_entry_has_its_source_and_its_date():
    for entry in (table()["international"], *table()["country"]):
        assert isinstance(entry["written"], datetime.date)
        assert {line["for"] for line in entry["line"]} == {"crisis", "abuse"}
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


def test_the_country_may_be_set_in_small_letters():
    assert help_for("nz").emergency == "111"


@pytest.mark.parametrize(
    ("found", "emergency"), [("en_GB", "999"), ("de_AT", "112"), ("en_US", "911"), ("de", None), (None, None)]
)
def test_without_a_setting_the_locale_decides_and_without_that_the_lines_are_international(
    monkeypatch: pytest.MonkeyPatch, found: str | None, emergency: str | None
):
    monkeypatch.setattr(replies.locale, "getlocale", lambda: (found, "UTF-8"))
    people = help_for()
    if emergency is None:
        assert people.place == "Wherever you are"
        assert "local emergency number" in people.emergency
        assert "findahelpline.com" in people.crisis[0].reach
    else:
        assert people.emergency == emergency


def test_anywhere_else_has_the_international_lines_wherever_the_machine_is(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("allears.safety.replies._own_country", lambda: "GB")
    assert help_for() == help_for("GB")
    assert help_for("ZZ") == international() != help_for("GB")


def test_a_country_that_is_not_listed_is_an_error_that_says_what_to_do():
    with pytest.raises(
        AllearsError, match=r"no help lines are listed for the country 'XX'.*international lines"
    ):
        help_for("XX")
