"""What becomes known while one message is answered, and how long each step took."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from allears.conversation import Context, Conversation, Persona, PersonaSentence, Role, Turn, as_turns
from allears.errors import AllearsError
from allears.labels import STRATEGIES
from allears.listener.contract import NO_WISH, Likely, Proposed, Reply, ShownChange, Why, Wish
from allears.listener.languages import ENGLISH
from allears.listener.senses import Sensed
from allears.listener.writing import Drafts
from allears.runtime.onnx_encoder import EncodedText
from allears.runtime.onnx_selector import EncodedQueries
from allears.runtime.selector import Query

_SENTENCE = re.compile(r"\S.*?(?:[.!?…][\"'”’)]*(?=\s|$)|$)", re.DOTALL)
_ASKS = re.compile(r"\?[!?…]*$")
LONGEST_MESSAGE = 8_000  # characters that are read; more is refused, not cut
CONTEXT_TURNS = 6


class TurnState:
    """One turn on its way: every step of the listener reads it and adds what it found."""

    def __init__(self, message: str, conversation: Conversation, seed: int, wish: Wish = NO_WISH):
        self.message, self.conversation, self.seed, self.wish = message, conversation, seed, wish
        self.turns = (*conversation.turns, Turn(Role.SEEKER, message))
        self.persona: Persona = conversation.personas.get(Role.SEEKER.value, Persona())
        self.listener = conversation.personas.get(Role.SUPPORTER.value, Persona()).texts
        self.milliseconds: dict[str, float] = {}
        self.sensed = Sensed()
        self.screening: Mapping[str, Any] = {}
        self.labels: Mapping[str, Any] = conversation.labels
        self.emotions: Likely = ()
        self.strategies: Likely = ()
        self.recalled: tuple[PersonaSentence, ...] = ()  # notes that answer a question of this message
        self.learned: tuple[PersonaSentence, ...] = ()
        self.changes: tuple[ShownChange, ...] = ()
        self.queries: tuple[Query, ...] = (Query(self.turns[-CONTEXT_TURNS:]), Query(self.turns[-1:]))
        self.texts: list[EncodedText] = []  # the contexts of the two queries, as the encoder read them
        self.encoded = EncodedQueries([], [], np.zeros((0, 0), np.float32))  # those with their personas
        self.proposed: list[Proposed] = []
        self.drafts = Drafts()
        self.reply: str | None = None
        self.language = ENGLISH  # of the message
        self.question = ""  # of the crisis screen, where it has a doubt: said after the reply
        self.said = ""  # the strategy of the reply
        self.why = Why("reply")

    def finished(self) -> Reply:
        assert self.reply is not None
        reply = with_question(self.reply, self.question) if self.question else self.reply
        answer = Turn(Role.SUPPORTER, reply, strategy=self.said or None)
        personas = self.conversation.personas
        if self.why.kind == "reply" and (self.persona.sentences or Role.SEEKER.value in personas):
            personas = {**personas, Role.SEEKER.value: self.persona}
        after = replace(
            self.conversation, turns=(*self.turns, answer), personas=personas, labels=dict(self.labels)
        )
        return Reply(reply, replace(self.why, milliseconds=self.milliseconds), after)


def with_question(reply: str, question: str) -> str:
    """A reply that ends with the screen's question; its own questions make room for it."""
    kept = [sentence for sentence in _SENTENCE.findall(reply.strip()) if not _ASKS.search(sentence)]
    return " ".join([*kept, question])


@contextmanager
def clock(turns: Sequence[TurnState], step: str) -> Iterator[None]:
    """Notes how long a step took, all its parts together; several turns at once share it."""
    start = time.perf_counter()
    yield
    share = 1000 * (time.perf_counter() - start) / max(1, len(turns))
    for turn in turns:
        turn.milliseconds[step] = round(turn.milliseconds.get(step, 0.0) + share, 2)


def last_message(message: Context, conversation: Conversation | None) -> tuple[str, Conversation | None]:
    """What is to be answered, and what was said before it."""
    if isinstance(message, str):
        return message, conversation
    try:
        *before, last = as_turns(message)
    except ValueError as error:
        raise AllearsError(str(error)) from error
    if last.speaker is not Role.SEEKER:
        raise AllearsError("there is nothing to answer: the last turn is the supporter's own")
    if before and conversation is not None:
        raise AllearsError("give the earlier turns either with the message or as `conversation`, not both")
    return last.text, Conversation("", tuple(before)) if before else conversation


def checked_wish(wish: Wish) -> Wish:
    if wish.strategy and wish.strategy not in STRATEGIES:
        raise AllearsError(f"there is no strategy {wish.strategy!r}; there are: {', '.join(STRATEGIES)}")
    return wish


def checked_message(message: str) -> str:
    if not isinstance(message, str) or not message.strip():
        raise AllearsError("there is nothing to answer: the message is empty")
    if len(message) > LONGEST_MESSAGE:
        raise AllearsError(
            f"the message has {len(message):,} characters; up to {LONGEST_MESSAGE:,} are read, so send it in parts"
        )
    return message.strip()
