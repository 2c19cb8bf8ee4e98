"""Scripted conversations: the same people's messages, through any listener, so that its replies can be compared.

A script is one line of JSON, `{"id": "...", "messages": ["...", ...]}`. What comes back is a line for each script,
`{"id", "messages", "replies", "kinds", "sources", "seconds"}`: what was said, whether it was a reply or a crisis text,
who wrote it, and how long it took.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from allears.conversation import Conversation
from allears.corpora.export import write_lines
from allears.corpora.files import CorpusError, Source, raise_bad
from allears.corpora.json_files import Record, json_lines, text_field, texts
from allears.errors import AllearsError
from allears.listener.contract import Reply, Responder
from allears.safety.state import QUESTION


@dataclass(frozen=True, slots=True)
class Script:
    """What one person says, message by message, whatever they are answered."""

    id: str
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Replayed:
    """A script with what the listener answered; every list is as long as `messages`."""

    id: str
    messages: tuple[str, ...]
    replies: tuple[str, ...]
    kinds: tuple[str, ...]
    sources: tuple[str, ...]
    seconds: tuple[float, ...]

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


def read_scripts(path: Path) -> list[Script]:
    """Every script of a file. A broken line, an empty script or an id used twice is an `AllearsError`."""
    return [Script(id, messages) for id, messages, _ in _read(path)]


def read_replayed(path: Path) -> list[Replayed]:
    """What `allears replay` wrote, or any file of that layout; only `id`, `messages` and `replies` are needed."""
    return [_replayed(path, id, messages, record) for id, messages, record in _read(path)]


def _read(path: Path) -> Iterator[tuple[str, tuple[str, ...], Record]]:
    if not path.is_file():
        raise AllearsError(f"{path}: no such file")
    source, seen = Source(path), set[str]()
    for line, record in json_lines(source, raise_bad):
        try:
            id = text_field(record, "id")
            messages = tuple(texts(record.get("messages"), "messages"))
            if not messages or not all(message.strip() for message in messages):
                raise ValueError("'messages' must hold at least one message, and no empty one")
            if id in seen:
                raise ValueError(f"the id {id!r} is used twice")
        except ValueError as error:
            raise CorpusError(str(error), source=source, line=line) from error
        seen.add(id)
        yield id, messages, record
    if not seen:
        raise AllearsError(
            f"{path}: there is no script in it; expected lines of {{'id': ..., 'messages': [...]}}"
        )


def _replayed(path: Path, id: str, messages: tuple[str, ...], record: Record) -> Replayed:
    replies = record.get("replies")
    if (
        not isinstance(replies, list)
        or len(replies) != len(messages)
        or not all(isinstance(r, str) for r in replies)
    ):
        raise AllearsError(f"{path}: script {id!r} needs one reply for each of its {len(messages)} messages")
    count = len(messages)
    return Replayed(
        id,
        messages,
        tuple(replies),
        tuple(record.get("kinds") or ("reply",) * count),
        tuple(record.get("sources") or ("",) * count),
        tuple(record.get("seconds") or (0.0,) * count),
    )


def replay(
    scripts: Iterable[Script],
    listener: Responder,
    *,
    seed: int = 0,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Replayed]:
    """One conversation for each script, in order. The same listener, script and seed give the same replies."""
    for script in scripts:
        conversation: Conversation | None = None
        replies: list[Reply] = []
        seconds: list[float] = []
        for message in script.messages:
            start = clock()
            reply = listener.respond(message, conversation, seed=seed)
            seconds.append(round(clock() - start, 3))
            replies.append(reply)
            conversation = reply.conversation
        yield Replayed(
            script.id,
            script.messages,
            tuple(reply.text for reply in replies),
            tuple(_kind(reply) for reply in replies),
            tuple(_source(reply) for reply in replies),
            tuple(seconds),
        )


def write_replayed(done: Iterable[Replayed], out: Path) -> int:
    """Write the lines; a file of that name is replaced once all are there. How many there were."""
    return write_lines((item.to_json() for item in done), out)


def _kind(reply: Reply) -> str:
    """What a reply was: "reply", "crisis", a "check-in" (a reply that ends with the screen's question), "memory"..."""
    return "check-in" if reply.why.screening.get("answer") == QUESTION else reply.why.kind


def _source(reply: Reply) -> str:
    return reply.why.candidates[0].proposal.source if reply.why.candidates else "fixed text"
