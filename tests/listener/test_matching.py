"""Which words of a reply go with which others."""

from __future__ import annotations

import pytest

from allears.conversation import PersonaSentence
from allears.listener.listener import Listener
from allears.listener.matching import FAINT, MOST_LINKS, matched_words
from allears.runtime.onnx_selector import OnnxSelector

DOG = PersonaSentence("I have a dog.", "turn 1")


def words_of(text: str, words) -> list[str]:
    return [text[word.start : word.end] for word in words]


def test_every_word_has_its_place_and_a_weight(listener: Listener):
    found = listener.matched_words("My dog is lost!", "Your dog was your friend.", [DOG], ["I like dogs."])
    assert words_of(found.text, found.words) == ["Your", "dog", "was", "your", "friend"]
    assert [(side.of, side.text, side.source) for side in found.others] == [
        ("message", "My dog is lost!", ""),
        ("persona", "I have a dog.", "turn 1"),
        ("listener", "I like dogs.", ""),
    ]
    for side in found.others:
        assert words_of(side.text, side.words)
        assert all(0 <= word.weight <= 1 for word in side.words)
        weights = [weight for _, _, weight in side.links]
        assert weights == sorted(weights, reverse=True)
        assert all(FAINT <= weight <= 1 for weight in weights)


def test_links_and_weights_agree(listener: Listener):
    found = listener.matched_words("my dog is lost", "Your dog was your friend.", [DOG])
    best = [0.0] * len(found.words)
    for side in found.others:
        for mine, theirs, weight in side.links:
            best[mine] = max(best[mine], weight)
            assert side.words[theirs].weight >= weight
    assert [word.weight for word in found.words] == pytest.approx(best)


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("?!", "What happened?"),
        ("😭😭", "😭"),
        ("今日はとても悲しい", "What happened?"),
        ("\u202eright to left \u0000", "You are allowed to be sad."),
        ("word " * 1500, "word " * 300),
        ("a" * 8000, "b"),
        ("\ud800 half", "a sign"),
    ],
)
def test_any_text_can_be_matched(listener: Listener, message: str, reply: str):
    found = listener.matched_words(message, reply, [PersonaSentence("...", "x"), DOG])
    for side in found.others:
        assert len(side.links) <= MOST_LINKS
        for word in side.words:
            assert 0 <= word.start < word.end <= len(side.text)


def test_the_same_words_are_found_by_the_shipped_model():
    found = matched_words(
        OnnxSelector.from_bundle(),
        "My boss shouted at me at work.",
        "A boss yelling can leave you shaking for hours.",
        [PersonaSentence("I collect stamps.", "turn 1"), PersonaSentence("My boss is strict.", "turn 3")],
    )
    message, stamps, strict = found.others

    def linked(side) -> set[tuple[str, str]]:
        return {
            (words_of(found.text, found.words)[mine], words_of(side.text, side.words)[theirs])
            for mine, theirs, _ in side.links
        }

    assert {("boss", "boss"), ("yelling", "shouted")} <= linked(message)
    assert ("boss", "boss") in linked(strict)
    assert max((weight for *_, weight in strict.links), default=0) > max(
        (weight for *_, weight in stamps.links), default=0
    )
