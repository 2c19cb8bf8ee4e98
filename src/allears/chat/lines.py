"""The chat through a pipe: a message a line comes in, a reply a line goes out, everything else is a note.

Every line is a message, also one that begins with a slash: a file of messages must not be able to erase anything. Who
wants "/why" obeyed there says so (`commands`); the answer to a command may have several lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import BinaryIO

from rich.console import Console

from allears.chat import view
from allears.chat.commands import CommandAnswer, Commands
from allears.chat.session import ChatReply, ChatSession
from allears.errors import AllearsError

LONGEST_LINE = (
    64_000  # bytes that are held: far more than the listener reads, far less than a file without line ends
)


def answer_lines(
    source: BinaryIO,
    session: ChatSession,
    *,
    write: Callable[[str], None],
    note: Callable[[str], None],
    as_json: bool = False,
    why: bool = False,
    commands: Commands | None = None,
) -> int:
    """Answer until the source ends. The exit code: 1 if a line was not answered or not stored, 0 otherwise."""
    code = 0
    for number, line in _lines(source):
        try:
            if line is None:
                raise AllearsError(f"the message has more than {LONGEST_LINE:,} bytes; send it in parts")
            if not line.strip():
                continue
            obeyed = None if commands is None else commands.run(line)
            if obeyed is not None:
                if obeyed.leave:
                    break
                write(_told(line, obeyed, as_json))
                continue
            said = session.say(line)
        except AllearsError as error:
            note(f"line {number}: {error}")
            code = 1
            continue
        write(_json(said) if as_json else view.one_line(said.text))
        if why and not as_json:
            note(view.in_short(said.why))
        if said.not_stored:
            note(f"line {number}: answered, but not stored: {said.not_stored}")
            code = 1
    problem = session.close()
    if problem:
        note(problem)
    return code


def _json(said: ChatReply) -> str:
    record = {"reply": said.text, "why": said.why, "conversation": said.conversation, "turn": said.turn}
    return json.dumps(record, ensure_ascii=False)


def _told(line: str, answer: CommandAnswer, as_json: bool) -> str:
    console = Console(width=100, color_system=None, highlight=False)
    with console.capture() as captured:
        console.print(answer.shown)
    text = "\n".join(each.rstrip() for each in captured.get().splitlines()).strip("\n")
    return json.dumps({"command": line.strip(), "text": text}, ensure_ascii=False) if as_json else text


def _lines(source: BinaryIO) -> Iterator[tuple[int, str | None]]:
    """Lines with their numbers, as soon as they arrive; None for one that is too long to be held."""
    number = 0
    while line := source.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = source.readline(LONGEST_LINE)
            yield number, None
            continue
        yield number, line.decode("utf-8-sig" if number == 1 else "utf-8", "replace").rstrip("\r\n")
