"""A listener for the server's tests: it says which conversation it saw and what it was told, and does as ordered."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.listener.contract import NO_WISH, Reply, Why, Wish
from allears.safety.screen import CrisisScreen


class Echo:
    """Repeats. "crash" raises with the message in it; "I am called ..." is learned; `delay` is the time of a call.

    "danger" is answered as the crisis screen would; a wish is noted in `why`.
    """

    def __init__(self, delay: float = 0.0) -> None:
        self.delay = delay
        self.screen = CrisisScreen(None)  # phrases alone: no bundle is opened
        self.batches: list[int] = []  # how many messages each call brought
        self.seen: list[Conversation] = []

    def respond(
        self, message: str, conversation: Conversation | None = None, *, seed: int = 0, wish: Wish = NO_WISH
    ) -> Reply:
        self.batches.append(1)
        time.sleep(self.delay)
        return self._reply(message, conversation, seed, wish)

    def stream(
        self, message: str, conversation: Conversation | None = None, *, seed: int = 0, wish: Wish = NO_WISH
    ) -> Iterator[str | Reply]:
        reply = self.respond(message, conversation, seed=seed, wish=wish)
        yield reply.text
        yield reply

    def respond_many(
        self,
        messages: Sequence[str],
        conversations: Sequence[Conversation | None],
        *,
        seeds: Sequence[int],
        wishes: Sequence[Wish] | None = None,
    ) -> list[Reply]:
        self.batches.append(len(messages))
        time.sleep(self.delay)
        rows = zip(messages, conversations, seeds, wishes or [NO_WISH] * len(messages), strict=True)
        return [self._reply(*row) for row in rows]

    def _reply(self, message: str, conversation: Conversation | None, seed: int, wish: Wish) -> Reply:
        if "crash" in message:
            raise RuntimeError(f"cannot answer {message!r}")
        known = conversation or Conversation("new", ())
        self.seen.append(known)
        text = f"In {known.id}, after {len(known.turns)} turns, you said: {message}"
        persona = known.personas.get("seeker", Persona())
        learned: tuple[PersonaSentence, ...] = ()
        if message.startswith("I am called "):
            learned = (PersonaSentence(message, f"turn {len(known.turns) + 1}"),)
        turns = (
            Turn(Role.SEEKER, message, emotion="hopeful"),
            Turn(Role.SUPPORTER, text, strategy="Question"),
        )
        why = Why(
            "reply",
            {"process": os.getpid()},  # who answered, where there are several
            emotions=(("hopeful", 1.0),),
            strategy="Question",
            learned=learned,
            seed=seed,
            milliseconds={"read": 2.0, "rank": 3.0},
            wished=wish.strategy,
        )
        if message == "danger":
            why = Why("crisis", {"danger": "suicide"})
        personas = {**known.personas, "seeker": Persona((*persona.sentences, *learned))}
        return Reply(text, why, replace(known, turns=(*known.turns, *turns), personas=personas))
