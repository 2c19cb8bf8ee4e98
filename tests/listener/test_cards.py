"""Replies on cards: how they are read, found and chosen."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.listener.cards import Card, read_cards, shipped_cards
from allears.listener.choosing import another, rank, reviewed
from allears.listener.contract import Proposal, Ranked, Wish
from allears.listener.finding import Finder
from allears.listener.listener import Listener
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.selector import Query
from allears.safety.review import review

CARDS = [
    Card(("What happened?", "How long has it been like that?"), strategy="Question"),
    Card(("That is great news!",), strategy="Affirmation and Reassurance", mood="good"),
    Card(
        ("Your dog was your friend.",),
        ("my dog is lost", "the dog ran away"),
        "Reflection of feelings",
        "hard",
    ),
]
SAID = (Turn(Role.SEEKER, "my dog is lost"),)


def written(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n")
    return path


def test_a_file_may_hold_cards_and_bare_replies(tmp_path: Path):
    path = written(
        tmp_path / "mine.jsonl",
        {"text": "What happened?"},
        "",
        {
            "replies": ["Oh no.", "Poor dog."],
            "examples": ["my dog is lost"],
            "strategy": "Others",
            "mood": "hard",
        },
    )
    assert read_cards(path) == [
        Card(("What happened?",)),
        Card(("Oh no.", "Poor dog."), ("my dog is lost",), "Others", "hard"),
    ]
    assert read_cards(tmp_path) == read_cards(path)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"replies": []}, 'a card needs "replies"'),
        ({"replies": ["x"], "examples": [""]}, 'a card needs "examples"'),
        ({"text": " "}, 'a card needs "replies"'),
        ({"text": "x", "strategy": "Shout"}, "unknown strategy 'Shout'"),
        ({"text": "x", "mood": "grim"}, "unknown mood 'grim'; known are hard, good, any"),
        ("[1", "line 2"),
        ("[1]", "line 2"),
    ],
)
def test_a_broken_card_is_named_with_its_line(tmp_path: Path, row: object, problem: str):
    path = written(tmp_path / "mine.jsonl", {"text": "fine"}, row)
    with pytest.raises(AllearsError, match=problem) as raised:
        read_cards(path)
    assert "mine.jsonl" in str(raised.value)


def test_an_empty_file_or_none_is_one_sentence(tmp_path: Path):
    with pytest.raises(AllearsError, match="there are no replies in it"):
        read_cards(written(tmp_path / "empty.jsonl"))
    with pytest.raises(AllearsError, match="cannot be read"):
        read_cards(tmp_path / "missing.jsonl")


def test_what_ships_can_be_said():
    cards = shipped_cards()
    refused = [reply for card in cards for reply in card.replies if not review(reply).ok]
    assert refused == []
    assert len({card.strategy for card in cards}) >= 6
    assert any(card.examples for card in cards)


@pytest.fixture(scope="module")
def finder(listener: Listener, tmp_path_factory: pytest.TempPathFactory) -> Finder:
    return Finder(CARDS, listener.selector, folder=tmp_path_factory.mktemp("cards"))


def found(finder: Finder, strategy: str = "") -> list[Proposal]:
    queries = [Query(SAID), Query(SAID[-1:])]
    texts = finder.selector.encode_contexts(queries)
    parts = finder.find(texts, finder.selector.encode_queries(queries, texts), strategy)
    return [proposal for part in parts for proposal in part.proposals]


def test_replies_are_found_by_their_words_and_by_the_messages_they_answer(finder: Finder):
    every = found(finder)
    assert {each.text for each in every} == {reply for card in CARDS for reply in card.replies}
    assert len(every) == len({each.text for each in every})
    (answer,) = (each for each in every if each.text == "Your dog was your friend.")
    assert (answer.strategy, answer.mood) == ("Reflection of feelings", "hard")


def test_a_wished_strategy_leaves_only_replies_of_it(finder: Finder):
    assert {each.strategy for each in found(finder, "Question")} == {"Question"}
    assert {each.text for each in found(finder, "Reflection of feelings")} >= {"Your dog was your friend."}


def test_vectors_are_kept_and_a_damaged_file_is_made_again(listener: Listener, tmp_path: Path):
    first = Finder(CARDS, listener.selector, folder=tmp_path)
    (path,) = (tmp_path / "cards").glob("*.npy")
    path.write_bytes(path.read_bytes()[:50])
    again = Finder(CARDS, listener.selector, folder=tmp_path)
    assert np.array_equal(first.examples, again.examples)


def test_the_answer_to_such_a_message_lies_near(finder: Finder):
    (text,) = finder.selector.encode_contexts([Query(SAID)])
    vector = text.vector / np.linalg.norm(text.vector)
    assert float((finder.examples @ vector).max()) == pytest.approx(1, abs=1e-2)


def ranked(finder: Finder, *said: Turn) -> list[Ranked]:
    turns = said or SAID
    queries = [Query(turns), Query(turns[-1:])]
    texts = finder.selector.encode_contexts(queries)
    encoded = finder.selector.encode_queries(queries, texts)
    return rank(finder.find(texts, encoded), encoded, finder.selector, turns)


def test_the_ranker_decides(finder: Finder):
    every = ranked(finder)
    assert [each.score for each in every] == [each.adjusted for each in every]
    assert [each.score for each in every] == sorted((each.score for each in every), reverse=True)


def test_what_was_said_is_not_said_again(finder: Finder):
    turns = (*SAID, Turn(Role.SUPPORTER, "What happened?"), *SAID)
    assert "What happened?" not in {each.proposal.text for each in ranked(finder, *turns)}


def test_another_answer_is_nearly_as_good_and_the_same_for_the_same_seed():
    items = [Ranked(Proposal(str(n), "cards"), 0, 1 - 0.06 * n) for n in range(5)]
    assert another(items, 0) == items
    chosen = {another(items, seed)[0].proposal.text for seed in range(1, 20)}
    assert chosen == {"0", "1"}
    assert another(items, 3) == another(items, 3)


def test_the_review_lets_nothing_harmful_through():
    items = [Ranked(Proposal(text, "cards"), 0, 0) for text in ("I am a real person.", "What happened?")]
    kept, refused = reviewed(items)
    assert [each.proposal.text for each in kept] == ["What happened?"]
    assert len(refused) == 1
    with pytest.raises(AllearsError, match="refused by the review"):
        reviewed(items[:1])


def test_a_wish_is_heard(listener: Listener):
    assert (
        listener.respond("my dog is lost", wish=Wish("Providing Suggestions")).why.strategy
        == "Providing Suggestions"
    )


def test_opening_reads_no_selector_twice(listener: Listener):
    assert isinstance(listener.finder.selector, OnnxSelector)
    assert listener.finder.selector is listener.selector
