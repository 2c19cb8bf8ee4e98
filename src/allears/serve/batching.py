"""Messages of several people, answered together.

A message alone leaves cores idle: its few texts are too little work to be shared out well. Several messages have texts
and proposals enough for all cores, each core with its own. So a message waits a few milliseconds for company, and while
the listener works on a batch the next one gathers by itself. What is computed stays the same: on a CPU, sixteen texts
cost the encoder nearly as much as sixteen times one (`benchmarks/serve.py` measures how much less).

The listener runs in a thread of its own: it computes, and the server must stay able to answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from allears.conversation import Conversation
from allears.listener.contract import NO_WISH, Reply, Responder, Wish
from allears.serve.metrics import Metrics
from allears.serve.settings import ServerSettings

log = logging.getLogger("allears.serve")


class BusyError(Exception):
    """More messages wait than the server takes on."""


class MixedUpError(Exception):
    """The listener answered with another conversation than it was given; nobody must see that answer."""


@dataclass(slots=True)
class _Waiting:
    message: str
    conversation: Conversation
    seed: int
    wish: Wish
    answer: asyncio.Future[Reply]


class Batcher:
    """Gives messages to the listener, several at a time (or one at a time, with `settings.batching` off)."""

    def __init__(self, responder: Responder, settings: ServerSettings, metrics: Metrics) -> None:
        self._responder = responder
        self._size = settings.batch_size if settings.batching else 1
        self._seconds = settings.batch_seconds
        self._metrics = metrics
        self._queue: asyncio.Queue[_Waiting] = asyncio.Queue(settings.waiting)
        self._threads = ThreadPoolExecutor(settings.threads, thread_name_prefix="listener")
        self._workers: list[asyncio.Task[None]] = []
        self._count = settings.threads
        self._open: set[asyncio.Future[Reply]] = set()

    async def start(self) -> None:
        self._workers = [asyncio.create_task(self._work()) for _ in range(self._count)]

    async def stop(self) -> None:
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        for answer in self._open:
            if not answer.done():
                answer.set_exception(BusyError())
        await asyncio.to_thread(self._threads.shutdown)

    async def respond(
        self, message: str, conversation: Conversation, seed: int = 0, wish: Wish = NO_WISH
    ) -> Reply:
        """The listener's reply. Raises `BusyError` when too many wait, and whatever the listener raised."""
        answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        try:
            self._queue.put_nowait(_Waiting(message, conversation, seed, wish, answer))
        except asyncio.QueueFull:
            raise BusyError from None
        self._metrics.waiting.inc()
        self._open.add(answer)
        try:
            reply = await answer
        finally:
            self._open.discard(answer)
        if reply.conversation.id != conversation.id:
            raise MixedUpError
        return reply

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            gathered = await self._gather()
            self._metrics.waiting.dec(len(gathered))
            batch = [item for item in gathered if not item.answer.cancelled()]
            if not batch:
                continue
            self._metrics.batches.observe(len(batch))
            answers = await loop.run_in_executor(self._threads, self._answer, batch)
            for item, answer in zip(batch, answers, strict=True):
                if item.answer.cancelled():
                    continue
                if isinstance(answer, Reply):
                    item.answer.set_result(answer)
                else:
                    item.answer.set_exception(answer)

    async def _gather(self) -> list[_Waiting]:
        """The next message and those that come shortly after it."""
        batch = [await self._queue.get()]
        loop = asyncio.get_running_loop()
        end = loop.time() + self._seconds
        while len(batch) < self._size:
            if not self._queue.empty():
                batch.append(self._queue.get_nowait())
                continue
            try:
                batch.append(await asyncio.wait_for(self._queue.get(), end - loop.time()))
            except TimeoutError:
                break
        return batch

    def _answer(self, batch: Sequence[_Waiting]) -> list[Reply | Exception]:
        """In a thread of the listener's: all together, and if that fails one by one."""
        if len(batch) > 1:
            try:
                replies = self._responder.respond_many(
                    [item.message for item in batch],
                    [item.conversation for item in batch],
                    seeds=[item.seed for item in batch],
                    wishes=[item.wish for item in batch],
                )
                if len(replies) == len(batch):
                    return list(replies)
                log.error("the listener gave %d replies to %d messages", len(replies), len(batch))
            except Exception as error:  # one bad message must not cost the others their answer
                log.error("a batch of %d failed with %s", len(batch), type(error).__name__)
            self._metrics.failures.inc()
        return [self._answer_one(item) for item in batch]

    def _answer_one(self, item: _Waiting) -> Reply | Exception:
        try:
            return self._responder.respond(item.message, item.conversation, seed=item.seed, wish=item.wish)
        except Exception as error:  # handed to the one who asked
            return error
