"""A voice beside the pool: what it is asked, what of it may be said, and what happens when it fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allears.conversation import Persona, PersonaSentence, Role, Turn
from allears.decoding import AlphaTable, Settings
from allears.errors import AllearsError
from allears.labels import STRATEGIES
from allears.listener.contract import OCCASION, PLAIN, REFLECTION, TURN_OF_TALK, Request, Wish
from allears.listener.listener import Listener
from allears.listener.speaking import cannot_be_said, chosen_strategies, whole_sentences
from allears.listener.voices import SMALL_ALPHAS, Voice
from allears.runtime.generator import Generated, Prompt


class Scripted:
    """A generator that notes what it is asked, and says what it is told to say."""

    has_branches = True

    def __init__(self, answer: Callable[[Prompt, int], str]):
        self.answer = answer
        self.calls: list[tuple[list[Prompt], list[int], AlphaTable | None]] = []

    def generate(
        self,
        prompts: Sequence[Prompt],
        settings: Settings = Settings(),  # noqa: B008 - frozen
        seed: Any = 0,
        *,
        count: int = 1,
        alphas: AlphaTable | None = None,
    ) -> list[list[Generated]]:
        self.calls.append((list(prompts), list(seed), alphas))
        return [
            [Generated(self.answer(prompt, place), prompt.strategy or "", -1.0)]
            for place, prompt in enumerate(prompts)
        ]

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Any]:
        raise NotImplementedError


def speaking(
    listener: Listener, answer: Callable[[Prompt, int], str], count: int = 3
) -> tuple[Listener, Scripted]:
    generator = Scripted(answer)
    return listener.with_voice(Voice("scripted", generator, count)), generator


def request(*texts: str, **changes: Any) -> Request:
    turns = tuple(
        Turn(Role.SUPPORTER if place % 2 else Role.SEEKER, text) for place, text in enumerate(texts)
    )
    chances = {"Question": 0.5, "Self-disclosure": 0.3, "Information": 0.2, "Others": 0.05}
    given = Request(turns, Persona(), (), tuple(chances.items()), "exploration", 0)
    return replace(given, **changes)


def proposals(reply: Any) -> list[str]:
    return [item.proposal.text for item in reply.why.candidates if item.proposal.source == "scripted"]


# --- asking


def test_one_call_asks_for_all_proposals_of_a_turn(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, place: f"Your dog was so {'very ' * place}glad.")
    reply = mine.respond("my dog is lost")
    ((prompts, seeds, alphas),) = generator.calls
    assert len(prompts) == 3
    assert {prompt.turns for prompt in prompts} == {(Turn(Role.SEEKER, "my dog is lost"),)}
    assert all(prompt.strategy in STRATEGIES for prompt in prompts)
    assert len(set(seeds)) == 3
    assert alphas is None
    assert reply.why.voice == "scripted"
    assert "write" in reply.why.milliseconds
    json.dumps(reply.why.to_dict())


def test_what_it_wrote_is_ranked_with_the_rest_and_says_who_proposed_it(listener: Listener):
    texts = ["Your cat is glad to be so sad.", "So your friend was so sad.", "The house is great news."]
    mine, _ = speaking(listener, lambda prompt, place: texts[place])
    reply = mine.respond("my cat is sad")
    assert proposals(reply)
    assert set(proposals(reply)) <= set(texts)  # only the best ten of all are shown
    sources = {item.proposal.source for item in reply.why.candidates}
    assert {"pool", "scripted"} <= sources
    scores = [item.adjusted for item in reply.why.candidates]
    assert scores == sorted(scores, reverse=True)
    chosen = next(item for item in reply.why.candidates if item.proposal.source == "scripted")
    assert chosen.proposal.strategy in STRATEGIES


def test_a_reply_of_the_voice_can_be_said(listener: Listener):
    mine, _ = speaking(listener, lambda prompt, place: "Your cat is lost and you are sad about it.", count=1)
    mine.weights = replace(mine.weights, score=0.0, strategy=0.0, stage=9.0, mentioned=5.0)
    reply = mine.respond("my cat is lost and i am sad")
    assert reply.why.candidates[0].proposal.source == "scripted"
    assert reply.text == "Your cat is lost and you are sad about it."
    assert reply.conversation.turns[-1].strategy == reply.why.strategy


def test_what_is_known_from_before_is_the_persona(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, place: "So sad, so sad.")
    known = PersonaSentence("I have a dog.", source="turn 1")
    before = replace(listener.respond("hello").conversation, personas={"seeker": Persona((known,))})
    mine.respond("I am a baker and I live in a boat.", before)
    assert generator.calls[0][0][0].persona == ("I have a dog.",)


def test_the_strategies_asked_for_are_the_likely_ones_and_never_a_life_of_its_own():
    assert chosen_strategies(request("hi"), 3) == ["Question", "Information", "Question"]
    assert chosen_strategies(request("hi"), 1) == ["Question"]
    assert chosen_strategies(request("hi", strategies=()), 2) == [None, None]
    retold = request("hi", strategies=(("Restatement or Paraphrasing", 0.6), ("Others", 0.4)))
    assert chosen_strategies(retold, 1) == ["Others"]
    wished = request("hi", wish=Wish("Others"))
    assert chosen_strategies(wished, 2) == ["Others", "Others"]


def test_a_voice_that_asks_badly_is_asked_for_few_questions_and_last():
    assert chosen_strategies(request("hi"), 3, questions=1) == ["Information", "Information", "Question"]
    assert chosen_strategies(request("hi"), 2, questions=0) == ["Information", "Information"]
    only = request("hi", strategies=(("Question", 1.0),))
    assert chosen_strategies(only, 2, questions=1) == ["Question", "Question"]  # there is nothing else
    statements = request("hi", strategies=(("Others", 1.0),))
    assert chosen_strategies(statements, 2, questions=1) == ["Others", "Others"]


def test_a_wish_reaches_the_voice(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, place: "Your cat is great news!")
    assert mine.takes_alpha
    mine.respond("my cat is sad", wish=Wish("Information", alpha=2.0))
    prompts, _, alphas = generator.calls[0]
    assert [prompt.strategy for prompt in prompts] == ["Information"] * 3
    assert alphas is not None
    assert set(alphas.by_strategy.values()) == {2.0}


def test_an_alpha_out_of_range_is_one_sentence(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, place: "Your cat is great news!")
    with pytest.raises(AllearsError, match=r"is 9.* it must lie between 0 and 5"):
        mine.respond("my cat is sad", wish=Wish(alpha=9.0))
    assert generator.calls == []
    assert listener.respond("my cat is sad", wish=Wish(alpha=9.0)).text  # nobody here has one


def test_the_same_turn_and_seed_ask_the_same_and_the_next_turn_something_else(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, place: "Your cat is great news!")
    first = mine.respond("my cat is sad", seed=3)
    mine.respond("my cat is sad", seed=3)
    mine.respond("my cat is sad", seed=4)
    mine.respond("my cat is sad", first.conversation, seed=3)
    seeds = [call[1] for call in generator.calls]
    assert seeds[0] == seeds[1]
    assert seeds[0] != seeds[2]
    assert seeds[0] != seeds[3]


def test_several_people_at_once_hear_what_each_would_alone(listener: Listener):
    mine, _ = speaking(
        listener, lambda prompt, place: f"So, {prompt.turns[-1].text}? Tell me {'more ' * place}now."
    )
    messages = ["my dog is lost", "my job is great", "I want to kill myself"]
    together = mine.respond_many(messages, [None] * 3, seeds=[1, 2, 3])
    for place, message in enumerate(messages):
        alone = mine.respond(message, seed=place + 1)
        assert alone.text == together[place].text
        assert alone.why.candidates == together[place].why.candidates


# --- what may not be said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "broken off"),
        ("Oh no.", "too short"),
        ("You can do it again and you can do it again.", "goes round in circles"),
        ("My dog ran away from the garden on Monday.", "an echo"),
        ("It sounds like you have clinical depression.", "diagnos"),
        ("I am a real person, so I know.", "human"),
        ("What do you miss most about your dog?", ""),
    ],
)
def test_what_nobody_has_read_is_looked_at_first(text: str, reason: str):
    asked = request("my dog ran away from the garden on monday and i cannot find him")
    found = cannot_be_said(text, asked)
    assert reason in found
    assert bool(found) == bool(reason)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("That is hard. I hope you", "That is hard."),
        ("I hope you", ""),
        ('He said "no." What then?', 'He said "no." What then?'),
        ("So sad! So very sad…", "So sad! So very sad…"),
        ("It costs 3.50 and that is", ""),
    ],
)
def test_a_sentence_that_was_broken_off_is_left_out(written: str, said: str):
    assert whole_sentences(Generated(written, "Others", -1.0, cut=True)) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("That is hard. I hope you sleep well", "That is hard. I hope you sleep well."),
        ("That is hard. how long has it been", "That is hard. how long has it been?"),
        ("Would you like to tell me more,", "Would you like to tell me more?"),
        ("What a week", "What a week."),
        ("What happened?", "What happened?"),
        ("", ""),
    ],
)
def test_a_sentence_that_ended_without_a_mark_gets_one(written: str, said: str):
    assert whole_sentences(Generated(written, "Others", -1.0)) == said


def test_what_the_review_refuses_is_never_ranked_and_is_told(listener: Listener):
    bad = "I am a real person, so I know."
    mine, _ = speaking(listener, lambda prompt, place: bad if place else "Your cat is so very sad.")
    reply = mine.respond("my cat is sad")
    assert proposals(reply) == ["Your cat is so very sad."]
    assert any(bad in refused for refused in reply.why.review)


def test_what_does_not_fit_the_moment_is_never_ranked_and_is_told(listener: Listener):
    texts = ["Hello, how are you today?", "I have two cats too.", "Your cat is so very sad."]
    mine, generator = speaking(listener, lambda prompt, place: texts[place])
    reply = mine.respond("my cat is sad")
    assert proposals(reply) == ["Your cat is so very sad."]
    assert [text for text in texts[:2] if any(text in refused for refused in reply.why.review)] == texts[:2]
    assert len(generator.calls) == 1


def test_where_nothing_can_be_said_the_voice_is_asked_once_more_with_other_chances(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, place: "Hello, how are you today?")
    assert proposals(mine.respond("my cat is sad")) == []
    first, second = (seeds for _, seeds, _ in generator.calls)
    assert set(first).isdisjoint(second)


def test_the_alphas_of_a_voice_are_used_unless_somebody_wishes_for_another(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, place: "Your cat is so very sad.")
    mine.speaker.voice = replace(mine.speaker.voice, alphas=SMALL_ALPHAS)
    mine.respond("my cat is sad")
    mine.respond("my cat is sad", wish=Wish(alpha=0.5))
    used = [alphas for _, _, alphas in generator.calls]
    assert used[0] is SMALL_ALPHAS
    assert used[1] is not None
    assert set(used[1].by_strategy.values()) == {0.5}


def test_nothing_is_written_for_somebody_in_danger(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, place: "Your cat is great news!")
    assert mine.respond("I want to kill myself").why.kind == "crisis"
    assert generator.calls == []


def test_what_was_said_already_is_not_said_again(listener: Listener):
    mine, _ = speaking(listener, lambda prompt, place: "Your cat is great news!")
    mine.weights = replace(mine.weights, score=0.0, strategy=0.0, stage=9.0, mentioned=5.0)
    first = mine.respond("my cat is great news")
    assert first.text == "Your cat is great news!"
    assert mine.respond("my cat is great news", first.conversation).text != first.text


# --- a voice that fails


def test_a_voice_that_fails_costs_the_turn_nothing_but_its_proposals(listener: Listener):
    def dead(prompt: Prompt, place: int) -> str:
        raise AllearsError("the endpoint does not answer; is it running?")

    mine, _ = speaking(listener, dead)
    reply = mine.respond("my dog is lost")
    assert reply.text == listener.respond("my dog is lost").text
    assert reply.why.trouble == "the endpoint does not answer; is it running?"
    assert proposals(reply) == []


def test_without_a_voice_everything_is_as_it_was(listener: Listener, tiny_bundle: Path):
    assert listener.voice == "retrieval"  # the bundle has none
    assert not listener.takes_alpha
    reply = listener.respond("my dog is lost")
    assert reply.why.voice == "retrieval"
    assert reply.why.trouble == ""
    assert "write" not in reply.why.milliseconds
    assert {item.proposal.source for item in reply.why.candidates} <= {
        "pool",
        OCCASION,
        TURN_OF_TALK,
        REFLECTION,
        PLAIN,
    }


def test_another_voice_leaves_the_listener_as_it_was(listener: Listener):
    mine, _ = speaking(listener, lambda prompt, place: "Your cat is great news!")
    assert mine.voice == "scripted"
    assert listener.voice == "retrieval"
    assert mine.selector is listener.selector
    assert mine.proposers is listener.proposers


def test_streaming_ends_with_the_reply_of_the_voice(listener: Listener):
    mine, _ = speaking(listener, lambda prompt, place: "Your cat is great news!")
    *pieces, reply = mine.stream("my cat is great", seed=2)
    assert "".join(pieces).strip() == reply.text == mine.respond("my cat is great", seed=2).text
