"""A generator whose strategies a reader chooses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from allears.conversation import Role, Turn
from allears.decoding import PAL_SETTINGS, Settings
from allears.models.generation.reader_chooses import ReaderChooses
from allears.runtime.generator import STRATEGIES, ChoosesStrategy, Generated, Likelihood, Prompt


class Writes:
    """Says which strategy it was told."""

    def generate(self, prompts: Sequence[Prompt], settings=None, seed=0, *, count=1, alphas=None):
        return [
            [Generated(f"with {prompt.strategy}", prompt.strategy or "", -1.0)] * count for prompt in prompts
        ]

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        return [Likelihood(-2.0, len(response.split())) for response in responses]


class Reads:
    """The more turns there were, the later a strategy in the list."""

    def probabilities(self, head, readings):
        assert head.name == "strategy"
        found = np.full((len(readings), len(STRATEGIES)), 0.05)
        for row, reading in enumerate(readings):
            found[row, len((*(reading.earlier or ()), *reading.turns)) - 1] = 0.65
        return found


def prompt(turns: int, strategy: str | None = None) -> Prompt:
    said = tuple(
        Turn(Role.SUPPORTER if number % 2 else Role.SEEKER, f"turn {number}") for number in range(turns)
    )
    return Prompt(said, strategy=strategy)


def test_the_reader_chooses_where_the_prompt_leaves_it_open():
    voice = ReaderChooses(Writes(), Reads())
    replies = voice.generate([prompt(1), prompt(3, "Question"), prompt(5)], count=2)
    assert [reply.strategy for (reply, _) in replies] == [STRATEGIES[0], "Question", STRATEGIES[4]]
    assert [len(each) for each in replies] == [2, 2, 2]


def test_all_strategies_are_told_likeliest_first_whatever_is_prescribed():
    voice = ReaderChooses(Writes(), Reads())
    assert isinstance(voice, ChoosesStrategy)
    (ranked,) = voice.strategies([prompt(3, "Question")])
    assert ranked[0] == (STRATEGIES[2], 0.65)
    assert {name for name, _ in ranked} == set(STRATEGIES)


def test_a_conversation_is_read_once():
    asked: list[int] = []

    class Counts(Reads):
        def probabilities(self, head, readings):
            asked.append(len(readings))
            return super().probabilities(head, readings)

    voice = ReaderChooses(Writes(), Counts())
    first = voice.strategies([prompt(1), prompt(3), prompt(1)])
    assert voice.strategies([prompt(3), prompt(5)])[0] == first[1]
    voice.generate([prompt(5), prompt(1)])
    assert asked == [2, 1]


def test_likelihood_is_the_generators():
    voice = ReaderChooses(Writes(), Reads())
    assert voice.log_likelihood([prompt(1)], ["two words"]) == [Likelihood(-2.0, 2)]


def test_nothing_asked_is_nothing_written():
    assert ReaderChooses(Writes(), Reads()).generate([]) == []


def test_it_is_measured_as_its_generator_was_tuned():
    tuned = Writes()
    tuned.own_settings = Settings(temperature=0.7)
    assert ReaderChooses(tuned, Reads()).own_settings == Settings(temperature=0.7)
    assert ReaderChooses(Writes(), Reads()).own_settings == PAL_SETTINGS
