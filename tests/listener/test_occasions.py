"""What many people tell is answered with what was written for it, and nothing else is taken for it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from allears.conversation import Role, Turn
from allears.listener import occasions
from allears.listener.contract import OCCASION
from allears.listener.occasions import Occasion, answers, occasions_in, shipped_occasions
from allears.listener.occasions.anchors import anchors
from allears.safety.review import review

JUDGED = Path(__file__).parents[2] / "benchmarks" / "judged_replies.jsonl"
HARD, GOOD = 0.0, 1.0  # how good what was told is
DOG = "We had to put our dog to sleep on Tuesday."


def _talk(*texts: str) -> tuple[Turn, ...]:
    return tuple(Turn(Role.SUPPORTER if place % 2 else Role.SEEKER, text) for place, text in enumerate(texts))


def _names(message: str) -> list[str]:
    return [told.occasion.name for told in occasions_in(message)]


# --- how an occasion is known ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        DOG,
        "my cat died",
        "My old dog passed away last night",
        "OUR HAMSTER DIED!!",
        "I had to put my horse down",
    ],
)
def test_a_pet_that_died(message: str) -> None:
    assert "a pet has died" in _names(message)


@pytest.mark.parametrize(
    "message",
    [
        "I'm so afraid that my dog died",  # feared
        "What if my cat died?",  # asked
        "If my dog died I don't know what I would do",
        "In the film my dog died",
        "My dog died years ago",  # another thing: `unless`
        "I put the kids to sleep",
    ],
)
def test_what_only_sounds_like_it(message: str) -> None:
    assert "a pet has died" not in _names(message)


def test_where_something_good_was_read_no_loss_is_seen() -> None:
    assert answers(_talk(DOG), "exploration", HARD)
    assert not any("dog" in each.text for each in answers(_talk(DOG), "exploration", GOOD))


# --- what is answered -----------------------------------------------------------------------------------


def test_the_answer_names_what_was_told_of() -> None:
    texts = {answers(_talk(DOG), "exploration", HARD, seed)[0].text for seed in range(20)}
    assert len(texts) > 1
    assert all("dog" in text for text in texts)
    assert all(each.source == OCCASION for each in answers(_talk(DOG), "exploration", HARD))


def test_the_same_seed_says_the_same() -> None:
    assert answers(_talk(DOG), "exploration", HARD, 3) == answers(_talk(DOG), "exploration", HARD, 3)


def test_an_occasion_is_answered_once() -> None:
    first = answers(_talk(DOG), "exploration", HARD)[0]
    pet = next(occasion for occasion in shipped_occasions() if occasion.name == "a pet has died")
    own = {text.replace("{pet}", "dog") for text in pet.texts}
    assert first.text in own
    again = answers(_talk(DOG, first.text, "Our dog died, you see."), "exploration", HARD)
    assert own.isdisjoint(each.text for each in again)


def test_after_two_questions_it_does_not_ask() -> None:
    asked = _talk("hello there", "How are you?", "so so", "What is it?", DOG)
    for seed in range(20):
        assert not answers(asked, "exploration", HARD, seed)[0].text.endswith("?")


@pytest.mark.parametrize("stage", ["opening", "ending"])
def test_hello_and_goodbye_are_no_occasions(stage: str) -> None:
    assert answers(_talk(DOG), stage, HARD) == []


def test_a_question_counts_as_one() -> None:
    for seed in range(20):
        for each in answers(_talk(DOG), "exploration", HARD, seed):
            assert (each.strategy == "Question") == each.text.endswith("?")


# --- letters without which nothing matches -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("put (?:my|the) dog down", {" dog down"}),
        ("my (?:old )?(?:dog|cat) (?:died|passed away)", {"died", "passed away"}),
        ("(?:very )?sad|so low", {"sad", "so low"}),
        ("(?P<pet>dogs?|cat) (?:\\w+ ){0,3}ill", {"dog", "cat"}),
        ("(?:very )?sad", {"sad"}),
        ("(?:dog)?s it", {"s it"}),
        ("dog(?:gie|gies){0,1} bed", {" bed"}),
        ("(?:a|b)?", {""}),
        ("\\w+[a-z]{3}", {""}),
        ("(?!not) gone", {" gone"}),
    ],
)
def test_anchors(phrase: str, expected: set[str]) -> None:
    assert anchors(phrase) == expected


# --- the tables -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("occasion", shipped_occasions(), ids=lambda occasion: occasion.name)
def test_every_occasion_is_well_made(occasion: Occasion) -> None:
    caught = {name for phrase in occasion.says for name in re.findall(r"\?P<(\w+)>", phrase)}
    for phrase in (*occasion.says, *occasion.unless):
        re.compile(phrase)
        assert "{" not in re.sub(r"\{\d*,?\d*\}", "", phrase)  # a list that lists.toml does not have
    assert len(occasion.texts) >= 3
    assert any(not text.endswith("?") for text in occasion.texts)
    for text in occasion.texts:
        assert set(re.findall(r"\{(\w+)\}", text)) <= caught
        assert re.search(r"[.!?]$", text)
        assert len(text.split()) <= 26
        assert text.count("?") <= 1
        spoken = re.sub(r"\{\w+\}", "friend", text)
        assert review(spoken).ok, review(spoken).reasons


def test_no_name_and_no_answer_stands_twice() -> None:
    names = Counter(occasion.name for occasion in shipped_occasions())
    texts = Counter(text for occasion in shipped_occasions() for text in occasion.texts)
    assert [name for name, count in names.items() if count > 1] == []
    assert [text for text, count in texts.items() if count > 1] == []


def test_the_quick_no_is_never_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Phrases are only searched where one of their words stands; that must not lose a match."""
    messages = {json.loads(line)["turns"][-1] for line in JUDGED.read_text(encoding="utf-8").splitlines()}
    quick = {message: _names(message) for message in messages}
    assert sum(map(bool, quick.values())) > 50
    monkeypatch.setattr(occasions, "anchors", lambda phrase: frozenset({""}))
    assert {message: _names(message) for message in messages} == quick
