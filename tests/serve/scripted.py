"""A listener for tests: it says which conversation it saw and what it was told, and does what a message orders."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.listener.contract import Reply, Why


class Scripted:
    """Echoes. "crash" raises with the message in it; "I am called ..." is learned; `delay` is the time of a call."""

    def __init__(self, delay: float = 0.0) -> None:
        self.delay = delay
        self.batches: list[int] = []
        self.seen: list[tuple[str, int]] = []
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()

    def respond(self, message: str, conversation: Conversation | None = None, *, seed: int = 0) -> Reply:
        self.batches.append(1)
        with self._lock:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        time.sleep(self.delay)
        with self._lock:
            self._now -= 1
        return self._reply(message, conversation, seed)

    def stream(
        self, message: str, conversation: Conversation | None = None, *, seed: int = 0
    ) -> Iterator[str | Reply]:
        reply = self.respond(message, conversation, seed=seed)
        yield reply.text
        yield reply

    def respond_many(
        self, messages: Sequence[str], conversations: Sequence[Conversation | None], *, seeds: Sequence[int]
    ) -> list[Reply]:
        self.batches.append(len(messages))
        time.sleep(self.delay)
        rows = zip(messages, conversations, seeds, strict=True)
        return [self._reply(message, conversation, seed) for message, conversation, seed in rows]

    def _reply(self, message: str, conversation: Conversation | None, seed: int) -> Reply:
        if "crash" in message:
            raise RuntimeError(f"cannot answer {message!r}")
        known = conversation or Conversation("new", ())
        self.seen.append((known.id, len(known.turns)))
        text = f"In {known.id}, after {len(known.turns)} turns, you said: {message}"
        persona = known.personas.get("seeker", Persona())
        learned: tuple[PersonaSentence, ...] = ()
        if message.startswith("I am called "):
            learned = (PersonaSentence(message, f"turn {len(known.turns)}"),)
        turns = (Turn(Role.SEEKER, message, emotion="hopeful"), Turn(Role.SUPPORTER, text, strategy="Question"))
        updated = replace(
            known,
            turns=(*known.turns, *turns),
            personas={**known.personas, "seeker": Persona((*persona.sentences, *learned))},
        )
        why = Why("reply", emotions=(("hopeful", 1.0),), strategy="Question", learned=learned, seed=seed,
                  milliseconds={"read": 2.0, "rank": 3.0})
        return Reply(text, why, updated)
