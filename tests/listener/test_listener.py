"""One turn, from the message to the reply, with a tiny model: the order, the reasons, the state."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from allears.conversation import Conversation, Persona, PersonaSentence, Role
from allears.errors import AllearsError
from allears.listener.contract import Reply
from allears.listener.listener import Listener
from allears.listener.turn_state import LONGEST_MESSAGE


def test_a_reply_comes_with_its_reasons_and_the_conversation_after_it(listener: Listener):
    reply = listener.respond("my dog is lost")
    assert [turn.text for turn in reply.conversation.turns] == ["my dog is lost", reply.text]
    assert [turn.speaker for turn in reply.conversation.turns] == [Role.SEEKER, Role.SUPPORTER]
    why = reply.why
    assert why.kind == "reply"
    assert len(why.emotions) == 32
    assert len(why.strategies) == 8
    assert why.candidates[0].proposal.text == reply.text
    assert [item.adjusted for item in why.candidates] == sorted(
        (i.adjusted for i in why.candidates), reverse=True
    )
    assert why.strategy == reply.conversation.turns[-1].strategy
    assert set(why.milliseconds) == {"screen", "read", "remember", "encode", "find", "rank", "review"}
    json.dumps(why.to_dict())


def test_nothing_is_said_twice(listener: Listener):
    conversation, said = None, []
    for message in ("my dog is lost", "yes it is sad", "my house is lost", "so sad", "my friend was sad"):
        reply = listener.respond(message, conversation)
        conversation = reply.conversation
        said.append(reply.text)
    assert len(set(said)) == len(said)


def test_the_same_question_has_the_same_answer(listener: Listener):
    one, other = (listener.respond("my cat is sad", seed=7) for _ in range(2))
    assert one.text == other.text
    assert one.why.candidates == other.why.candidates


def test_several_people_at_once_hear_what_each_would_alone(listener: Listener):
    before = listener.respond("great news!").conversation
    messages, talks = (
        ["my dog is lost", "my job is great", "hello", "I want to kill myself"],
        [None, before, None, None],
    )
    together = listener.respond_many(messages, talks, seeds=[0] * 4)
    alone = [listener.respond(message, talk) for message, talk in zip(messages, talks, strict=True)]
    assert [reply.text for reply in together] == [reply.text for reply in alone]
    assert [reply.conversation for reply in together] == [reply.conversation for reply in alone]


def test_in_a_crowd_every_score_is_the_one_of_being_alone(listener: Listener):
    messages = [
        f"my {('dog', 'cat', 'friend', 'house', 'boat')[n % 5]} is{' so' * (n % 9)} sad" for n in range(24)
    ]
    talks = [listener.respond("I have a cat.").conversation if n % 3 else None for n in range(24)]
    together = listener.respond_many(messages, talks, seeds=range(24))
    for message, talk, seed, reply in zip(messages, talks, range(24), together, strict=True):
        alone = listener.respond(message, talk, seed=seed)
        assert reply.conversation == alone.conversation
        pairs = zip(reply.why.candidates, alone.why.candidates, strict=True)
        assert all(one.proposal == other.proposal for one, other in pairs)
        scores = [[item.score for item in each.why.candidates] for each in (reply, alone)]
        assert scores[0] == pytest.approx(scores[1], rel=1e-5)


def test_danger_is_answered_with_a_fixed_text_and_stays_on(listener: Listener):
    first = listener.respond("I want to kill myself")
    assert first.why.kind == "crisis"
    assert first.why.screening["danger"] == "suicide"
    assert not first.why.candidates
    second = listener.respond("my cat is great", first.conversation)
    assert second.why.kind == "crisis"
    assert second.text != first.text


def test_the_state_of_danger_survives_json(listener: Listener):
    first = listener.respond("I want to kill myself")
    stored = Conversation.from_json(first.conversation.to_json())
    assert listener.respond("my cat is great", stored).why.kind == "crisis"


def test_our_own_words_are_reviewed(listener: Listener):
    conversation = None
    for message in ("you are what?", "how do you know", "my friend", "sad", "glad", "my house", "my boat"):
        reply = listener.respond(message, conversation)
        conversation = reply.conversation
        assert "I have been a human" not in reply.text


def test_what_is_learned_is_kept_with_its_turn_and_used_later(listener: Listener):
    first = listener.respond("I have a cat and I work on a boat.")
    known = first.conversation.personas["seeker"]
    assert known.sentences
    assert {sentence.source for sentence in known.sentences} == {"turn 1"}
    assert first.why.learned == known.sentences
    assert not first.why.persona  # what was just said is in the context already
    second = listener.respond("my friend is sad", first.conversation)
    assert {use.text for use in second.why.persona} == set(known.texts)
    assert sum(use.weight for use in second.why.persona) == pytest.approx(1, abs=1e-3)


def test_a_contradiction_replaces_and_is_told(listener: Listener):
    first = listener.respond("I live in Ghent.")
    second = listener.respond("I live in Lisbon now.", first.conversation)
    assert [(change.old, change.new) for change in second.why.changes] == [
        ("I live in Ghent.", "I live in Lisbon now.")
    ]
    assert "I live in Ghent." not in second.conversation.personas["seeker"].texts


def test_another_language_is_answered_in_it_and_nothing_else_happens(listener: Listener):
    reply = listener.respond("Ich bin heute so traurig, weil mein Hund gestorben ist und ich allein bin.")
    assert reply.why.kind == "language"
    assert "Englisch" in reply.text
    assert not reply.conversation.personas


def test_a_question_about_what_was_told_is_answered_from_the_notes(listener: Listener):
    first = listener.respond("My dog is called Biscuit.")
    second = listener.respond("do you remember my dog's name?", first.conversation)
    assert second.why.kind == "memory"
    assert "Biscuit" in second.text


def test_forget_that_forgets(listener: Listener):
    first = listener.respond("I have a cat.")
    second = listener.respond("Forget that, please", first.conversation)
    assert second.why.kind == "forget"
    assert second.conversation.personas["seeker"] == Persona()
    third = listener.respond("what do you know about me?", second.conversation)
    assert third.why.kind == "memory"
    assert "cat" not in third.text


def test_an_edited_sentence_is_never_overwritten(listener: Listener):
    mine = Persona((PersonaSentence("I live in Ghent.", "edited"),))
    talk = Conversation(id="x", turns=(), personas={"seeker": mine})
    reply = listener.respond("I live in Lisbon.", talk)
    assert "I live in Ghent." in reply.conversation.personas["seeker"].texts


def test_streaming_ends_with_the_whole_reply(listener: Listener):
    *pieces, last = listener.stream("my dog is lost")
    assert isinstance(last, Reply)
    assert "".join(pieces) == last.text


def test_it_can_be_awaited(listener: Listener):
    reply = asyncio.run(listener.arespond("my dog is lost"))
    assert reply.text == listener.respond("my dog is lost").text


@pytest.mark.parametrize("message", ["", "   \n"])
def test_an_empty_message_is_one_sentence(listener: Listener, message: str):
    with pytest.raises(AllearsError, match="nothing to answer"):
        listener.respond(message)


def test_a_message_that_is_too_long_is_refused_and_not_cut(listener: Listener):
    with pytest.raises(AllearsError, match="send it in parts"):
        listener.respond("a" * (LONGEST_MESSAGE + 1))


@pytest.mark.parametrize(
    "message",
    ["😭😭😭", "Мне очень грустно сегодня", "今日はとても悲しい", "\u202e\u0000 ok", "a" * LONGEST_MESSAGE],
)
def test_any_text_has_an_answer(listener: Listener, message: str):
    assert listener.respond(message).text


def test_the_cards_are_only_encoded_once(
    listener: Listener, tiny_bundle: Path, monkeypatch: pytest.MonkeyPatch
):
    from allears.runtime.onnx_selector import OnnxSelector

    monkeypatch.setattr(
        OnnxSelector, "encode_responses", lambda *_: pytest.fail("the cards were encoded again")
    )
    pool = tiny_bundle.parent / "pool.jsonl"
    Listener.from_bundle(
        tiny_bundle, pools=[pool], shipped=False, cache=tiny_bundle.parent / "cache", voice="chosen"
    )


def test_a_listener_without_replies_is_refused(tiny_bundle: Path):
    with pytest.raises(AllearsError, match="nothing to answer with"):
        Listener.from_bundle(tiny_bundle, shipped=False)


def test_talking_needs_no_torch(tiny_bundle: Path, listener: Listener):
    cache = str(tiny_bundle.parent / "cache")
    script = (
        "import sys; from pathlib import Path; from allears import Listener; "
        f"l = Listener.from_bundle({str(tiny_bundle)!r}, pools=[{str(tiny_bundle.parent / 'pool.jsonl')!r}], "
        f"shipped=False, cache=Path({cache!r}), voice='chosen'); l.respond('my dog is lost'); "
        "print([name for name in ('torch', 'transformers', 'pandas', 'sklearn') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
