"""Messages of several people are answered together, and nobody pays for another's bad luck."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest

from allears.conversation import Conversation
from allears.listener.contract import Reply
from allears.serve.batching import Batcher, BusyError, MixedUpError
from allears.serve.metrics import Metrics
from allears.serve.settings import ServerSettings
from echo_listener import Echo


def with_batcher(
    responder: Echo, use: Callable[[Batcher], Awaitable[list[object]]], settings: ServerSettings | None = None
) -> tuple[list[object], Metrics]:
    metrics = Metrics()

    async def run() -> list[object]:
        batcher = Batcher(responder, settings or ServerSettings(), metrics)
        await batcher.start()
        try:
            return await use(batcher)
        finally:
            await batcher.stop()

    return asyncio.run(run()), metrics


def ask(messages: Sequence[str]) -> Callable[[Batcher], Awaitable[list[object]]]:
    async def use(batcher: Batcher) -> list[object]:
        asked = [
            batcher.respond(message, Conversation(f"c{number}", ()), seed=number)
            for number, message in enumerate(messages)
        ]
        return await asyncio.gather(*asked, return_exceptions=True)

    return use


def texts(answers: Sequence[object]) -> list[str]:
    return [answer.text if isinstance(answer, Reply) else type(answer).__name__ for answer in answers]


def test_messages_that_come_together_are_answered_together_and_by_their_own_conversation():
    listener = Echo()
    answers, metrics = with_batcher(listener, ask([f"hello {number}" for number in range(12)]))
    assert listener.batches == [12]
    assert texts(answers) == [f"In c{n}, after 0 turns, you said: hello {n}" for n in range(12)]
    assert [answer.why.seed for answer in answers if isinstance(answer, Reply)] == list(range(12))
    assert metrics.registry.get_sample_value("allears_batch_size_sum") == 12


def test_a_batch_is_never_larger_than_the_limit():
    listener = Echo()
    with_batcher(listener, ask(["hello"] * 25), ServerSettings(batch_size=10))
    assert listener.batches == [10, 10, 5]


def test_with_batching_off_every_message_is_answered_alone():
    listener = Echo()
    answers, _ = with_batcher(listener, ask(["hello"] * 8), ServerSettings(batching=False))
    assert listener.batches == [1] * 8
    assert len(set(texts(answers))) == 8


def test_the_next_batch_gathers_while_the_listener_works():
    listener = Echo(delay=0.3)

    async def use(batcher: Batcher) -> list[object]:
        async def late(number: int) -> Reply:
            await asyncio.sleep(0.05 + number / 100)
            return await batcher.respond("hello", Conversation(f"late{number}", ()))

        first = asyncio.create_task(batcher.respond("first", Conversation("early", ())))
        return list(await asyncio.gather(first, *(late(number) for number in range(10))))

    with_batcher(listener, use)
    assert listener.batches == [1, 10]


def test_a_crash_over_one_message_does_not_fail_the_others():
    answers, metrics = with_batcher(Echo(), ask(["good morning", "crash", "good night"]))
    assert texts(answers) == [
        "In c0, after 0 turns, you said: good morning",
        "RuntimeError",
        "In c2, after 0 turns, you said: good night",
    ]
    assert metrics.registry.get_sample_value("allears_batch_failures_total") == 1


def test_too_few_replies_are_noticed_and_the_messages_answered_one_by_one():
    class Forgetful(Echo):
        def respond_many(self, messages, conversations, *, seeds, wishes=None):  # type: ignore[no-untyped-def]
            return super().respond_many(messages, conversations, seeds=seeds)[:-1]

    answers, _ = with_batcher(Forgetful(), ask(["one", "two", "three"]))
    assert texts(answers)[2] == "In c2, after 0 turns, you said: three"


def test_a_reply_that_belongs_to_another_conversation_is_never_handed_out():
    class Confused(Echo):
        def respond_many(self, messages, conversations, *, seeds, wishes=None):  # type: ignore[no-untyped-def]
            return super().respond_many(messages, conversations, seeds=seeds)[::-1]

    answers, _ = with_batcher(Confused(), ask(["one", "two"]))
    assert [type(answer) for answer in answers] == [MixedUpError, MixedUpError]


def test_whoever_comes_when_too_many_wait_is_told_so():
    listener = Echo(delay=0.05)
    answers, _ = with_batcher(
        listener, ask(["hello"] * 12), replace(ServerSettings(), waiting=4, batch_size=2)
    )
    assert texts(answers).count("BusyError") == 8
    assert any(isinstance(answer, BusyError) for answer in answers)


def test_whoever_leaves_does_not_hold_up_the_rest():
    listener = Echo()

    async def use(batcher: Batcher) -> list[object]:
        leaving = asyncio.create_task(batcher.respond("bye", Conversation("gone", ())))
        staying = asyncio.create_task(batcher.respond("hello", Conversation("here", ())))
        await asyncio.sleep(0)
        leaving.cancel()
        return [await staying]

    answers, _ = with_batcher(listener, use)
    assert texts(answers) == ["In here, after 0 turns, you said: hello"]
    assert [conversation.id for conversation in listener.seen] == ["here"]


def test_a_server_that_stops_leaves_nobody_waiting():
    async def run() -> None:
        batcher = Batcher(Echo(delay=0.2), ServerSettings(), Metrics())
        await batcher.start()
        asked = asyncio.create_task(batcher.respond("hello", Conversation("c", ())))
        await asyncio.sleep(0.05)
        await batcher.stop()
        with pytest.raises(BusyError):
            await asked

    asyncio.run(asyncio.wait_for(run(), 5))
