"""A listener measured as a generator is."""

from __future__ import annotations

import pytest

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.evaluation.generation import evaluate_generation
from allears.listener.as_generator import ListenerGenerator
from allears.listener.listener import Listener
from allears.models.generation.examples import GenerationExample
from allears.runtime.generator import Prompt

TURNS = (
    Turn(Role.SEEKER, "my dog is lost"),
    Turn(Role.SUPPORTER, "What happened?", strategy="Question"),
    Turn(Role.SEEKER, "so sad"),
)


def test_it_says_what_the_listener_says(listener: Listener):
    generator = ListenerGenerator(listener)
    prompts = [Prompt(TURNS[:1]), Prompt(TURNS, ("I have a dog.",))] * 10  # more than are answered at once
    found = generator.generate(prompts, seed=5)
    first = listener.respond("my dog is lost")
    assert [each[0].text for each in found[::2]] == [first.text] * 10
    assert found[0][0].strategy == first.why.strategy
    assert all(each[0].text != "What happened?" for each in found[1::2])  # that was said already


def test_it_is_measured_but_for_its_perplexity(listener: Listener):
    examples = [GenerationExample(Prompt(TURNS, ("I have a dog.",), "Others"), "Your dog is your friend.")]
    measures = evaluate_generation(ListenerGenerator(listener), examples).measures
    assert measures["length"] > 0
    assert measures["ppl_examples"] == 0
    assert "ppl" not in measures


def test_what_no_listener_can_do_is_one_sentence(listener: Listener):
    generator = ListenerGenerator(listener)
    with pytest.raises(AllearsError, match="gives one reply a turn, not 3"):
        generator.generate([Prompt(TURNS)], count=3)
    with pytest.raises(AllearsError, match="these turns end with a reply"):
        generator.generate([Prompt(TURNS[:2])])
