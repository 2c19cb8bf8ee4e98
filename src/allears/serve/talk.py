"""One stored turn: load the conversation, ask the listener, store the reply, and only then say it.

Whoever is told a reply can rely on it being on the disk; whoever heard nothing may ask again with the same request.
Messages of one conversation wait for each other. Two servers on one database cannot wait for each other: there the
slower one finds that the conversation went on, and answers again from where it stands now.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from starlette.exceptions import HTTPException

from allears.conversation import Conversation
from allears.memory import ConflictError, Memory
from allears.serve.batching import Batcher
from allears.serve.metrics import Metrics

MEMORY_THREADS = 4  # a database on one disk gains nothing from more writers
MOST_TRIES = 8
REQUEST = "request"  # in a stored `why`: which request it answered
_PIECES = re.compile(r"\s*\S+\s*|\s+")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Told:
    """A reply that was stored: the number of its turn (from 1), its words and its reasons."""

    conversation: str
    turn: int
    text: str
    why: dict[str, Any]

    @property
    def pieces(self) -> list[str]:
        """The words one by one; joined, they are the text."""
        return pieces(self.text)


def pieces(text: str) -> list[str]:
    """A text's words with the space around them; joined, they are the text."""
    return _PIECES.findall(text)


class Talk:
    """Turns of stored conversations."""

    def __init__(self, memory: Memory, batcher: Batcher, metrics: Metrics) -> None:
        self._memory = memory
        self._batcher = batcher
        self._metrics = metrics
        self._threads = ThreadPoolExecutor(MEMORY_THREADS, thread_name_prefix="memory")
        self._turnstiles: dict[tuple[str, str], tuple[asyncio.Lock, int]] = {}
        self._running: set[asyncio.Task[Told]] = set()

    async def remember(self, method: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Call a method of the memory's, which waits for the disk, without keeping others waiting."""
        call = partial(method, *arguments, **options)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    async def say(
        self, person: str, conversation: str, message: str, *, request: str | None = None, seed: int = 0
    ) -> Told:
        """Answer a message and store both. A turn once begun is finished, also if the one who asked is gone."""
        turn = asyncio.create_task(self._say(person, conversation, message, request, seed))
        self._running.add(turn)
        turn.add_done_callback(self._finished)
        return await asyncio.shield(turn)

    @asynccontextmanager
    async def alone(self, person: str, conversation: str) -> AsyncIterator[None]:
        """Wait until nobody else in this process is at this conversation. Who came first goes first."""
        key = (person, conversation)
        lock, count = self._turnstiles.get(key, (asyncio.Lock(), 0))
        self._turnstiles[key] = (lock, count + 1)
        try:
            async with lock:
                yield
        finally:
            _, count = self._turnstiles[key]
            if count == 1:
                del self._turnstiles[key]
            else:
                self._turnstiles[key] = (lock, count - 1)

    async def stop(self) -> None:
        await asyncio.gather(*self._running, return_exceptions=True)
        await asyncio.to_thread(self._threads.shutdown)

    def _finished(self, turn: asyncio.Task[Told]) -> None:
        self._running.discard(turn)
        if not turn.cancelled():
            turn.exception()  # looked at, or asyncio would log it, words and all, when nobody waits any more

    async def _say(
        self, person: str, conversation: str, message: str, request: str | None, seed: int
    ) -> Told:
        async with self.alone(person, conversation):
            for attempt in range(MOST_TRIES):
                try:
                    return await self._try(person, conversation, message, request, seed)
                except ConflictError:
                    await asyncio.sleep(0.01 * 2**attempt)
        raise HTTPException(
            409, "Others keep writing to this conversation; the message was not stored. Try again."
        )

    async def _try(
        self, person: str, conversation: str, message: str, request: str | None, seed: int
    ) -> Told:
        with self._timed("load"):
            before = await self.remember(self._memory.load, person, conversation)
        with self._timed("listen"):
            reply = await self._batcher.respond(message, before, seed)
        why = reply.why.to_dict()
        if request is not None:
            why[REQUEST] = _digest(request)
        after = len(before.turns)
        with self._timed("store"):
            await self.remember(
                self._memory.append,
                person,
                conversation,
                reply.conversation,
                after=after,
                why=why,
                request=request,
            )
        self._metrics.reply(reply.why.milliseconds)
        if request is not None:  # it may have been answered before, and then that answer counts
            return await self.remember(self._find_answer, person, conversation, message, request, after + 2)
        return Told(conversation, after + 2, reply.text, why)

    def _find_answer(self, person: str, conversation: str, message: str, request: str, guess: int) -> Told:
        """What was stored for a request: most likely as turn `guess`, else earlier."""
        stored = self._memory.load(person, conversation)
        last = len(stored.turns)
        for turn in (*([guess] if guess <= last else []), *range(last, 1, -1)):
            why = self._memory.why(person, conversation, turn)
            if why is not None and why.get(REQUEST) == _digest(request):
                return _told(stored, turn, message, why)
        raise HTTPException(409, "This message was answered before, and taken back since.")

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._metrics.step(step, time.perf_counter() - start)


def _told(stored: Conversation, turn: int, message: str, why: dict[str, Any]) -> Told:
    if stored.turns[turn - 2].text.strip() != message.strip():
        raise HTTPException(409, "This Idempotency-Key was used for another message.")
    return Told(stored.id, turn, stored.turns[turn - 1].text, why)


def _digest(request: str) -> str:
    return hashlib.sha256(request.encode()).hexdigest()[:16]
