"""Annotating a corpus into a file, a few conversations at a time, so that a killed run can go on where it stopped.

While it runs, whole conversations are appended to `OUT.part`, and `OUT.part.json` says with which settings. The same
command goes on after the last whole line; other settings, or a corpus that changed, are refused. At the end the part
takes the name `OUT`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from allears.conversation import Conversation
from allears.errors import AllearsError
from allears.evaluation.annotate import Addition

AT_ONCE = 16  # conversations that a kill may cost


@dataclass(frozen=True, slots=True)
class Annotated:
    """How many conversations the file has, and how many of them an earlier run had written."""

    conversations: int
    resumed: int

    @property
    def again(self) -> str:
        """The end of a sentence about them."""
        return f", {self.resumed:,} of them from an earlier run" if self.resumed else ""


def check_annotation_path(out: Path) -> None:
    """Refuse early what could not be written later."""
    if not out.name.endswith(".jsonl"):
        raise AllearsError(f"{out}: annotated corpora are written as .jsonl")
    if not out.absolute().parent.is_dir():
        raise AllearsError(f"{out}: the folder {out.absolute().parent} does not exist")
    if out.exists():
        raise AllearsError(f"{out}: is there already; choose another name or remove it")


def annotate_to(
    out: Path,
    conversations: Iterable[Conversation],
    addition: Addition,
    settings: Mapping[str, Any],
    *,
    at_once: int = 0,
) -> Annotated:
    """Write every conversation with its addition to `out`, going on with what is in `OUT.part`.

    `at_once`: conversations that the addition gets, and a kill may cost; 0 is AT_ONCE.
    """
    check_annotation_path(out)
    part, card = part_of(out), card_of(out)
    try:
        with _alone(part) as file:
            try:
                _agree(part, card, settings)
                done = _written(file, part)
                total = len(done)
                stream = iter(conversations)
                _skip(stream, done, part)
                while batch := list(islice(stream, at_once or AT_ONCE)):
                    _append(file, addition(batch))
                    total += len(batch)
                if not total:
                    raise AllearsError("there is no conversation to annotate")
            finally:
                if not part.stat().st_size:  # nothing to go on with
                    part.unlink()
                    card.unlink(missing_ok=True)
        os.replace(part, out)
        card.unlink()
    except OSError as error:
        raise AllearsError(f"{out}: cannot write ({error.strerror or error})") from error
    return Annotated(total, len(done))


def _append(file: IO[bytes], conversations: Iterable[Conversation]) -> None:
    """Whole lines, on the disk before the next ones begin."""
    try:
        file.write("".join(f"{conversation.to_json()}\n" for conversation in conversations).encode())
    except UnicodeEncodeError as error:
        raise AllearsError(
            "a conversation holds a lone surrogate, which is no text; `allears data check` says where"
        ) from error
    file.flush()
    os.fsync(file.fileno())


def part_of(out: Path) -> Path:
    return out.with_name(out.name + ".part")


def card_of(out: Path) -> Path:
    return out.with_name(out.name + ".part.json")


def _agree(part: Path, card: Path, settings: Mapping[str, Any]) -> None:
    """The settings a part was begun with are today's, or there is no part yet."""
    wanted = json.loads(json.dumps(settings))
    if not part.stat().st_size:  # nothing was written yet
        fresh = card.with_name(card.name + ".new")
        fresh.write_text(json.dumps(wanted, indent=1) + "\n", encoding="utf-8")
        os.replace(fresh, card)
        return
    if not card.exists():
        raise AllearsError(
            f"{part}: begun with unknown settings ({card.name} is missing); remove it to start anew"
        )
    try:
        begun = json.loads(card.read_text(encoding="utf-8"))
    except ValueError as error:
        raise AllearsError(
            f"{card}: not readable ({error}); remove it and {part.name} to start anew"
        ) from error
    for name in {**begun, **wanted}:
        if begun.get(name) != wanted.get(name):
            raise AllearsError(
                f"{part}: begun with other settings ({name}: {begun.get(name)!r}, now {wanted.get(name)!r}); "
                f"use the same again, or remove it and {card.name} to start anew"
            )


@contextmanager
def _alone(part: Path) -> Iterator[IO[bytes]]:
    """The part, opened for appending, while nobody else appends to it."""
    with part.open("ab+") as file:
        try:
            import fcntl
        except ImportError:  # not on this system: two runs at once are then the person's own affair
            yield file
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AllearsError(
                f"{part}: another run is writing it right now; wait for it or stop it"
            ) from None
        yield file


def _written(file: IO[bytes], part: Path) -> list[str]:
    """The ids of the conversations that are whole; what a kill cut short behind them is cut off."""
    file.seek(0)
    found: list[str] = []
    end = 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):
            break
        try:
            found.append(json.loads(line)["id"])
        except (ValueError, KeyError, TypeError) as error:
            raise AllearsError(
                f"{part}, line {number}: not a conversation ({error}); remove the file to start anew"
            ) from error
        end += len(line)
    file.truncate(end)
    file.seek(end)
    return found


def _skip(stream: Iterator[Conversation], done: list[str], part: Path) -> None:
    for number, wanted in enumerate(done, 1):
        found = next(stream, None)
        if found is None or found.id != wanted:
            now = "there is none" if found is None else repr(found.id)
            raise AllearsError(
                f"{part}, line {number}: the corpus changed since it was begun (conversation {number} was {wanted!r}, "
                f"now {now}); remove the file to start anew"
            )
