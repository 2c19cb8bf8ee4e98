"""A voice that writes: what it is asked, which draft is said, and what happens when it fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allears.conversation import Persona, PersonaSentence, Role, Turn
from allears.decoding import AlphaTable, Settings
from allears.errors import AllearsError
from allears.labels import STRATEGIES
from allears.listener.contract import Wish
from allears.listener.listener import Listener
from allears.listener.voices import Voice
from allears.listener.writing import Writer, cannot_be_said, known_before, whole_sentences
from allears.runtime.generator import Generated, Likelihood, Prompt
from allears.runtime.talk_layout import split_reply

Answer = Callable[[Prompt, int], str]


class Scripted:
    """A generator that notes what it is asked, and says what it is told to say to the nth call."""

    has_branches = True

    def __init__(self, answer: Answer):
        self.answer = answer
        self.calls: list[tuple[Prompt, Settings, int, AlphaTable | None]] = []

    def generate(
        self,
        prompts: Sequence[Prompt],
        settings: Settings = Settings(),  # noqa: B008 - frozen
        seed: Any = 0,
        *,
        count: int = 1,
        alphas: AlphaTable | None = None,
    ) -> list[list[Generated]]:
        found = []
        for prompt, each in zip(prompts, seed, strict=True):
            self.calls.append((prompt, settings, each, alphas))
            found.append([Generated(self.answer(prompt, len(self.calls) - 1), prompt.strategy or "", -1.0)])
        return found

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        return [Likelihood(-1.0, 1) for _ in prompts]


class Streaming(Scripted):
    """It also gives its words one by one."""

    def stream(self, prompt: Prompt, settings: Settings, seed: int) -> Iterator[str]:
        for word in self.answer(prompt, 0).split(" "):
            yield word + " "

    def split(self, written: str) -> tuple[str, str]:
        return split_reply(written)


class Likes:
    """A scorer that likes replies with a word in them."""

    def __init__(self, word: str):
        self.word = word

    def score(self, turns: Sequence[Turn], known: Sequence[str], replies: Sequence[str]) -> list[float]:
        return [0.9 if self.word in reply else -0.3 for reply in replies]


def speaking(listener: Listener, answer: Answer, drafts: int = 1) -> tuple[Listener, Scripted]:
    generator = Scripted(answer)
    return listener.with_voice(Voice("scripted", generator, drafts)), generator


# --- asking


def test_the_voice_reads_the_conversation_and_its_reply_is_said(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, call: "Your dog is lost. Where did you see him last?")
    reply = mine.respond("my dog is lost")
    assert reply.text == "Your dog is lost. Where did you see him last?"
    ((prompt, _, _, alphas),) = generator.calls
    assert prompt.turns == (Turn(Role.SEEKER, "my dog is lost"),)
    assert prompt.strategy is None  # it chooses for itself
    assert alphas is None
    assert (reply.why.voice, reply.why.candidates[0].proposal.source) == ("scripted", "scripted")
    assert "write" in reply.why.milliseconds
    assert "rank" not in reply.why.milliseconds
    json.dumps(reply.why.to_dict())


def test_what_is_known_from_before_is_told_to_the_voice_and_what_it_reads_is_not(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, call: "So sad, so sad to hear.")
    earlier = PersonaSentence("I have a dog.")
    before = listener.respond("I live in a boat with my mother.").conversation
    said = before.personas["seeker"].sentences if "seeker" in before.personas else ()
    before = replace(before, personas={"seeker": Persona((earlier, *said))})
    mine.respond("hello again", before)
    assert generator.calls[0][0].persona == ("I have a dog.",)


def test_what_was_said_long_ago_is_told_again():
    turns = tuple(Turn(Role.SUPPORTER if place % 2 else Role.SEEKER, "text") for place in range(21))
    persona = Persona((PersonaSentence("old", "turn 3"), PersonaSentence("new", "turn 19")))
    assert known_before(persona, turns) == ("old",)


def test_the_listeners_own_persona_is_told_to_the_voice(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, call: "Your garden is so sad.")
    before = replace(
        listener.respond("hello").conversation,
        personas={"supporter": Persona((PersonaSentence("I am a cook."),))},
    )
    mine.respond("my garden is sad", before)
    assert generator.calls[0][0].own_persona == ("I am a cook.",)


def test_a_wish_reaches_the_voice(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, call: "Your cat is great news!")
    assert mine.takes_alpha
    reply = mine.respond("my cat is sad", wish=Wish("Information", alpha=2.0))
    prompt, _, _, alphas = generator.calls[0]
    assert prompt.strategy == "Information"
    assert alphas is not None
    assert set(alphas.by_strategy.values()) == {2.0}
    assert reply.why.strategy == "Information"


def test_an_alpha_out_of_range_is_one_sentence(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, call: "Your cat is great news!")
    with pytest.raises(AllearsError, match=r"is 9.* it must lie between 0 and 5"):
        mine.respond("my cat is sad", wish=Wish(alpha=9.0))
    assert generator.calls == []


def test_the_same_turn_and_seed_ask_the_same_and_another_answer_is_drawn_more_freely(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, call: f"Your cat is great news! Yes {'so ' * call}")
    first = mine.respond("my cat is sad", seed=3)
    mine.respond("my cat is sad", seed=3)
    mine.respond("my cat is sad", seed=0)
    mine.respond("my cat is sad", first.conversation, seed=3)
    seeds = [call[2] for call in generator.calls]
    warmth = [call[1].temperature for call in generator.calls]
    assert seeds[0] == seeds[1]
    assert len({seeds[0], seeds[2], seeds[3]}) == 3
    assert warmth[0] > warmth[2]


def test_several_people_at_once_hear_what_each_would_alone(listener: Listener):
    mine, _ = speaking(listener, lambda prompt, call: f"So, {prompt.turns[-1].text}? Tell me more.")
    messages = ["my dog is lost", "my job is great", "I want to kill myself"]
    together = mine.respond_many(messages, [None] * 3, seeds=[1, 2, 3])
    for place, message in enumerate(messages):
        assert mine.respond(message, seed=place + 1).text == together[place].text


# --- choosing among drafts


class NeverAsked:
    """A scorer that nobody needs."""

    def score(self, turns: Sequence[Turn], known: Sequence[str], replies: Sequence[str]) -> list[float]:
        raise AssertionError("asked")


def test_one_draft_is_said_as_it_is_and_nobody_is_asked_how_it_fits(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, call: "Your cat is great news!")
    mine.writer.scorer = NeverAsked()
    assert mine.respond("my cat is sad").text == "Your cat is great news!"
    assert len(generator.calls) == 1


def test_of_several_drafts_each_with_a_strategy_of_its_own_the_scorer_chooses(listener: Listener):
    texts = ["That is bad.", "Your cat is dear to you.", "That is odd."]
    mine, generator = speaking(listener, lambda prompt, call: texts[call], drafts=3)
    mine.writer.scorer = Likes("cat")
    reply = mine.respond("my cat is sad")
    assert reply.text == texts[1]
    assert [item.proposal.text for item in reply.why.candidates] == [texts[1], texts[0], texts[2]]
    first, second, third = (call[0].strategy for call in generator.calls)
    assert first is None
    assert {second, third} <= set(STRATEGIES)
    assert second != third


def test_where_all_are_doubtful_the_best_is_said(listener: Listener):
    texts = ["That is bad.", "That is sad.", "That is great."]
    mine, generator = speaking(listener, lambda prompt, call: texts[call], drafts=2)
    mine.writer.scorer = Likes("nothing")
    assert mine.respond("my cat is sad").text == texts[0]
    assert len(generator.calls) == 2


# --- what may not be said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "nothing"),
        ("...", "nothing"),
        ("You can do it again and you can do it again.", "goes round in circles"),
        ("A dog or a dog.", "goes round in circles"),
        ("We are here.", "said before"),
        ("It sounds like you have clinical depression.", "diagnos"),
        ("I am a real person, so I know.", "human"),
        ("Oh no, no. What do you miss most about your dog?", ""),
    ],
)
def test_what_nobody_has_read_is_looked_at_first(text: str, reason: str):
    turns = (Turn(Role.SEEKER, "hi"), Turn(Role.SUPPORTER, "we are here!"), Turn(Role.SEEKER, "ok"))
    found = cannot_be_said(text, turns)
    assert reason in found
    assert bool(found) == bool(reason)


@pytest.mark.parametrize(
    ("written", "cut", "said"),
    [
        ("That is hard. I hope you", True, "That is hard."),
        ("I hope you", True, ""),
        ('He said "no." What then?', True, 'He said "no." What then?'),
        ("It costs 3.50 and that is", True, ""),
        ("That is hard. I hope you sleep well", False, "That is hard. I hope you sleep well."),
        ("That is hard. how long has it been", False, "That is hard. how long has it been?"),
        ("Would you like to tell me more,", False, "Would you like to tell me more?"),
        ("What a week", False, "What a week."),
        ("", False, ""),
    ],
)
def test_a_reply_ends_with_a_whole_sentence(written: str, cut: bool, said: str):
    assert whole_sentences(Generated(written, "Others", -1.0, cut=cut)) == said


def test_a_refused_draft_is_told_and_another_is_written(listener: Listener):
    texts = ["I am a real person, so I know.", "Your cat is so very sad."]
    mine, generator = speaking(listener, lambda prompt, call: texts[call])
    reply = mine.respond("my cat is sad")
    assert reply.text == texts[1]
    assert any(texts[0] in refused for refused in reply.why.review)
    assert len({call[2] for call in generator.calls}) == 2


def test_where_every_draft_is_refused_a_reply_is_chosen(listener: Listener):
    mine, _ = speaking(listener, lambda prompt, call: "I am a real person, so I know.")
    reply = mine.respond("my dog is lost")
    assert reply.text == listener.respond("my dog is lost").text
    assert len(reply.why.review) == 3


def test_nothing_is_written_for_somebody_in_danger(listener: Listener):
    mine, generator = speaking(listener, lambda prompt, call: "Your cat is great news!")
    assert mine.respond("I want to kill myself").why.kind == "crisis"
    assert generator.calls == []


# --- a voice that fails


def test_a_voice_that_fails_leaves_the_word_to_chosen_replies(listener: Listener):
    def dead(prompt: Prompt, call: int) -> str:
        raise AllearsError("the endpoint does not answer; is it running?")

    mine, _ = speaking(listener, dead)
    reply = mine.respond("my dog is lost")
    assert reply.text == listener.respond("my dog is lost").text
    assert reply.why.trouble == "the endpoint does not answer; is it running?"


def test_another_voice_leaves_the_listener_as_it_was(listener: Listener):
    mine, _ = speaking(listener, lambda prompt, call: "Your cat is great news!")
    assert (mine.voice, listener.voice) == ("scripted", "chosen")
    assert mine.selector is listener.selector


# --- streaming


def test_streaming_ends_with_the_reply_of_the_voice(listener: Listener):
    mine, _ = speaking(listener, lambda prompt, call: "Your cat is great news!")
    *pieces, reply = mine.stream("my cat is great", seed=2)
    assert "".join(pieces).strip() == reply.text == "Your cat is great news!"


def test_one_draft_is_heard_sentence_by_sentence_without_its_strategy(listener: Listener):
    mine = listener.with_voice(
        Voice("s", Streaming(lambda prompt, call: "[question] Oh no. It cost 3.50, too. Where is he"))
    )
    *pieces, reply = mine.stream("my dog is lost")
    assert pieces == ["Oh no.", " It cost 3.50, too.", " Where is he?"]
    assert (reply.text, reply.why.strategy) == ("Oh no. It cost 3.50, too. Where is he?", "Question")
    assert reply.conversation.turns[-1].text == reply.text


def test_a_stream_ends_before_a_sentence_that_may_not_be_said(listener: Listener):
    mine = listener.with_voice(
        Voice("s", Streaming(lambda prompt, call: "Oh no. I am a real person, so I know. Bye."))
    )
    *pieces, reply = mine.stream("my dog is lost")
    assert pieces == ["Oh no."]
    assert reply.text == "Oh no."


def test_a_stream_of_nothing_that_may_be_said_becomes_another_reply(listener: Listener):
    mine = listener.with_voice(Voice("s", Streaming(lambda prompt, call: "I am a real person, so I know.")))
    *pieces, reply = mine.stream("my dog is lost")
    assert "".join(pieces).strip() == reply.text
    assert reply.text == listener.respond("my dog is lost").text


def test_several_drafts_are_not_streamed(listener: Listener):
    assert not Writer(Voice("s", Streaming(lambda prompt, call: ""), drafts=2)).streams
    assert not Writer(Voice("s", Scripted(lambda prompt, call: ""))).streams


def test_choosing_listeners_name_no_voice(listener: Listener, tiny_bundle: Path):
    assert not listener.takes_alpha
    reply = listener.respond("my dog is lost")
    assert (reply.why.voice, reply.why.trouble) == ("chosen", "")
    assert "write" not in reply.why.milliseconds
