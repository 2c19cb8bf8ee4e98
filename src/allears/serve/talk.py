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
from allears.listener.contract import Reply, Wish
from allears.memory import ConflictError, Memory, NothingToUndoError
from allears.memory.choices import COUNTRY_LABEL, VOICE_LABEL
from allears.serve.help import help_in
from allears.serve.metrics import Metrics
from allears.serve.voices import Voices

MEMORY_THREADS = 4  # a database on one disk gains nothing from more writers
MOST_TRIES = 8
REQUEST = "request"  # in a stored `why`: which request it answered
_PIECES = re.compile(r"\s*\S+\s*|\s+")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """What a person says: `replaces` is the turn of an earlier message that this one takes the place of.

    `request` is a text of the client's own that says which request this is, so that it may be sent again.
    """

    text: str
    seed: int = 0
    strategy: str = ""
    replaces: int | None = None
    request: str | None = None


@dataclass(frozen=True, slots=True)
class StoredReply:
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


class TalkService:
    """Turns of stored conversations."""

    def __init__(self, memory: Memory, voices: Voices, metrics: Metrics) -> None:
        self._memory = memory
        self._voices = voices
        self._metrics = metrics
        self._threads = ThreadPoolExecutor(MEMORY_THREADS, thread_name_prefix="memory")
        self._turnstiles: dict[tuple[str, str], tuple[asyncio.Lock, int]] = {}
        self._running: set[asyncio.Task[StoredReply]] = set()
        self._listening: dict[tuple[str, str], tuple[str | None, asyncio.Task[Reply]]] = {}

    async def remember(self, method: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Call a method of the memory's, which waits for the disk, without keeping others waiting."""
        call = partial(method, *arguments, **options)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    async def say(self, person: str, conversation: str, said: IncomingMessage) -> StoredReply:
        """Answer a message and store both. A turn once begun is finished, also if the one who asked is gone."""
        turn = asyncio.create_task(self._say(person, conversation, said))
        self._running.add(turn)
        turn.add_done_callback(self._finished)
        return await asyncio.shield(turn)

    async def hush(self, person: str, conversation: str, request: str | None) -> bool:
        """Stop a reply: whether its message was not stored, or was taken back.

        Without the request's own text only what is being answered right now can be stopped.
        """
        await self.remember(self._memory.choices, person, conversation)  # raises if it is not theirs
        asked, listening = self._listening.get((person, conversation), (None, None))
        if listening is not None and request in (None, asked) and listening.cancel():
            return True
        if request is None:
            return False
        async with self.alone(person, conversation):
            return await self.remember(self._take_back, person, conversation, request)

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

    def _finished(self, turn: asyncio.Task[StoredReply]) -> None:
        self._running.discard(turn)
        if not turn.cancelled():
            turn.exception()  # looked at, or asyncio would log it, words and all, when nobody waits any more

    async def _say(self, person: str, conversation: str, said: IncomingMessage) -> StoredReply:
        async with self.alone(person, conversation):
            for attempt in range(MOST_TRIES):
                try:
                    return await self._try(person, conversation, said)
                except ConflictError:
                    await asyncio.sleep(0.01 * 2**attempt)
        raise HTTPException(
            409, "Others keep writing to this conversation; the message was not stored. Try again."
        )

    async def _try(self, person: str, conversation: str, said: IncomingMessage) -> StoredReply:
        with self._timed("load"):
            before, gives_way = await self.remember(self._load, person, conversation, said)
        with self._timed("listen"):
            reply = await self._listen(person, before, said)
        why = self.reasons(reply, before)
        if said.request is not None:
            why[REQUEST] = _digest(said.request)
        after = len(before.turns)
        with self._timed("store"):
            await self.remember(
                self._memory.append,
                person,
                conversation,
                reply.conversation,
                after=after,
                instead_of=gives_way,
                why=why,
                request=said.request,
            )
        self._metrics.reply(reply.why.milliseconds)
        if said.request is not None:  # it may have been answered before, and then that answer counts
            return await self.remember(
                self._find_answer, person, conversation, said.text, said.request, after + 2
            )
        return StoredReply(conversation, after + 2, reply.text, why)

    def reasons(self, reply: Reply, before: Conversation) -> dict[str, Any]:
        """Everything behind a reply, with who gave it; and where somebody is in danger, whom they can reach."""
        why = reply.why.to_dict()
        voice = self._voices.chosen(before.labels.get(VOICE_LABEL))
        why["voice"] = voice.name
        if reply.why.kind == "crisis":
            why["help"] = help_in(before.labels.get(COUNTRY_LABEL), voice.country).to_dict()
        return why

    def _load(self, person: str, conversation: str, said: IncomingMessage) -> tuple[Conversation, int]:
        """The conversation that a message is answered in, and how many turns give way to it."""
        if said.replaces is None:
            return self._memory.load(person, conversation), 0
        try:
            return self._memory.load_before(person, conversation, said.replaces)
        except NothingToUndoError as error:
            raise HTTPException(409, f"Turn {said.replaces} is no message of yours.") from error

    async def _listen(self, person: str, before: Conversation, said: IncomingMessage) -> Reply:
        """The reply, unless somebody stops it meanwhile."""
        voice, wish = before.labels.get(VOICE_LABEL), Wish(said.strategy)
        listening = asyncio.create_task(self._voices.respond(said.text, before, said.seed, wish, voice=voice))
        key = (person, before.id)
        self._listening[key] = (said.request, listening)
        try:
            return await listening
        except asyncio.CancelledError:
            if not listening.cancelled():
                raise  # the server stops, not the person
            raise HTTPException(409, "You stopped this reply; the message was not stored.") from None
        finally:
            del self._listening[key]

    def _take_back(self, person: str, conversation: str, request: str) -> bool:
        """Undo the last exchange if it is this request's."""
        turns = len(self._memory.load(person, conversation).turns)
        why = self._memory.why(person, conversation, turns) if turns else None
        if why is None or why.get(REQUEST) != _digest(request):
            return False
        self._memory.undo(person, conversation)
        return True

    def _find_answer(
        self, person: str, conversation: str, message: str, request: str, guess: int
    ) -> StoredReply:
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


def _told(stored: Conversation, turn: int, message: str, why: dict[str, Any]) -> StoredReply:
    if stored.turns[turn - 2].text.strip() != message.strip():
        raise HTTPException(409, "This Idempotency-Key was used for another message.")
    return StoredReply(stored.id, turn, stored.turns[turn - 1].text, why)


def _digest(request: str) -> str:
    return hashlib.sha256(request.encode()).hexdigest()[:16]
