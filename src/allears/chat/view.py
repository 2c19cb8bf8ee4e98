"""What a person sees. Functions from what is known to what Rich can print; nothing is decided here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from allears.conversation import Role, Turn
from allears.memory.records import StoredSentence, Summary
from allears.safety.replies import Help

WIDEST = 84  # characters; longer lines are hard to read, however wide the window
REPLY = "cyan"
YOU = "yellow"
SHOWN_ON_RESUMING = 6  # turns


def printable(text: str) -> str:
    """Other people's text, and our own: no terminal commands, nothing that cannot be encoded."""
    safe = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in safe)


def one_line(text: str) -> str:
    return " ".join(printable(text).split())


def note(text: str) -> RenderableType:
    """Something beside the conversation."""
    return _indented(Text(printable(text), style="dim"))


def problem(text: str) -> RenderableType:
    return _indented(Text(printable(text), style="red"))


def reply(text: str) -> RenderableType:
    return _indented(Text(printable(text), style=REPLY), above=1, below=1)


def in_short(why: Mapping[str, Any]) -> str:
    """The line that `--why` adds: the feeling that was heard, and what the reply tries to do."""
    if why["kind"] == "crisis":
        danger = why["screening"].get("danger") or "danger"
        return f"a fixed reply of the crisis screen ({danger})"
    parts = []
    if why["emotions"]:
        name, chance = why["emotions"][0]
        parts.append(f"heard: {name} {chance:.0%}")
    if why["strategy"]:
        parts.append(why["strategy"].lower())
    return " · ".join(parts) or "an answer about what is noted"


def what_this_is(people: Help) -> RenderableType:
    """Before the first conversation: what it is not, who helps, where the words stay."""
    line = people.crisis[0]
    return _indented(
        Text(
            "I am a program that listens, no person and no therapist, and I cannot take the place of professional "
            f"help. If you or somebody near you is in danger, call {people.emergency}. {line.name}: {line.reach}. "
            "What you write stays on this machine: nothing is sent anywhere."
        ),
        below=1,
    )


def persona(known: Sequence[StoredSentence], *, agreed: bool) -> RenderableType:
    if not known:
        return note("Nothing is noted about you.")
    table = Table.grid(padding=(0, 2))
    for number, sentence in enumerate(known, 1):
        marks = [mark for mark, holds in (("your words", sentence.edited),) if holds]
        if sentence.remembered:
            marks.append("remembered")
        table.add_row(
            Text(str(number), style="dim"), one_line(sentence.text), Text(", ".join(marks), style="dim")
        )
    hint = "/persona edit 2 …, /persona add …, /forget 2"
    if not agreed:
        hint += "; this conversation only, as long as you did not say /consent yes"
    return Group(_indented(table), note(hint))


def conversations(found: Iterable[Summary], current: str) -> RenderableType:
    rows = list(found)
    if not rows:
        return note("There are no conversations yet.")
    table = Table.grid(padding=(0, 2))
    for each in rows:
        here = "·" if each.id == current else ""
        words = Text(one_line(each.first_words))
        table.add_row(here, Text(each.id, style="dim"), Text(when(each.last), style="dim"), words)
    return Group(_indented(table), note("/resume with an id, or its first letters, goes on with one"))


def when(moment: datetime) -> str:
    return f"{moment.astimezone():%d %b %Y, %H:%M}"


def where_we_were(turns: Sequence[Turn]) -> RenderableType:
    """The end of a conversation that goes on."""
    shown = turns[-SHOWN_ON_RESUMING:]
    parts: list[RenderableType] = []
    if len(shown) < len(turns):
        parts.append(note(f"… {len(turns) - len(shown)} turns before"))
    for turn in shown:
        mine = turn.speaker is Role.SUPPORTER
        text = printable(turn.text)
        parts.append(
            _indented(Text(text, style=f"dim {REPLY}")) if mine else Text(f"› {text}", style=f"dim {YOU}")
        )
    return Group(*parts, "")


def commands(rows: Iterable[tuple[str, str]]) -> RenderableType:
    table = Table.grid(padding=(0, 3))
    for usage, what in rows:
        table.add_row(Text(usage, style=REPLY), what)
    return Group(_indented(table), note("Enter sends, Alt-Enter makes a new line, Ctrl-D leaves."))


def _indented(what: RenderableType, *, above: int = 0, below: int = 0) -> RenderableType:
    return Padding(_Narrow(what), (above, 0, below, 2))


class _Narrow:
    """No wider than is good to read."""

    def __init__(self, what: RenderableType) -> None:
        self.what = what

    def __rich_console__(self, console: Any, options: Any) -> Any:
        yield from console.render(self.what, options.update(max_width=min(options.max_width, WIDEST)))
