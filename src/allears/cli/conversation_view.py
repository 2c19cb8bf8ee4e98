"""A conversation the way a person reads one: the seeker on the left, the supporter on the right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from allears.cli.output import printable
from allears.conversation import Conversation, Role, Turn

COLOURS = {Role.SEEKER: "yellow", Role.SUPPORTER: "cyan"}
WIDEST = 100  # a line longer than this is hard to read, however wide the window
BUBBLE = 0.72  # of the width: enough room for a sentence, and the sides stay told apart


class ConversationView:
    """Rich renders it: `console.print(ConversationView(conversation))`."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, WIDEST)
        yield Panel(_facts(self.conversation), box=box.ROUNDED, width=width, border_style="dim")
        for who, persona in self.conversation.personas.items():
            if persona.sentences:
                yield Panel(
                    Text("\n").join(Text(f"· {_text(sentence.text)}") for sentence in persona.sentences),
                    title=Text(f"persona of {who}"),
                    title_align="left",
                    box=box.ROUNDED,
                    width=width,
                    border_style="magenta",
                )
        for turn in self.conversation.turns:
            yield _bubble(turn, width)


def _facts(conversation: Conversation) -> Table:
    """Everything said about the conversation as a whole, one fact a line."""
    facts: list[tuple[str, str]] = [("id", conversation.id)]
    where = " ".join(part for part in (conversation.source, conversation.split) if part)
    for name, value in (
        ("from", where),
        ("emotion", conversation.emotion),
        ("problem", conversation.problem),
        ("situation", conversation.situation),
    ):
        if value:
            facts.append((name, value))
    for name, values in (("survey", conversation.survey), ("labels", conversation.labels)):
        if values:
            facts.append((name, _listed(values)))
    grid = Table.grid(padding=(0, 2))
    for name, value in facts:
        grid.add_row(Text(name, style="dim"), Text(_text(value), style="bold" if name == "emotion" else ""))
    return grid


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {value:g}"
        if isinstance(value, float)
        else f"{name.replace('_', ' ')}: {value}"
        for name, value in values.items()
    )


def _bubble(turn: Turn, width: int) -> RenderableType:
    bubble = min(width, max(20, int(width * BUBBLE)))
    mine = turn.speaker is Role.SUPPORTER
    name = turn.speaker.value if turn.author is None else f"{turn.speaker.value} {turn.author}"
    panel = Panel(
        Text(_text(turn.text)),
        title=Text(_text(name)),
        title_align="right" if mine else "left",
        subtitle=Text(" · ".join(_remarks(turn))) or None,
        subtitle_align="right" if mine else "left",
        box=box.ROUNDED,
        width=bubble,
        border_style=COLOURS[turn.speaker],
    )
    return Padding(panel, (0, 0, 0, width - bubble if mine else 0))


def _remarks(turn: Turn) -> Iterator[str]:
    for name, value in (("", turn.strategy), ("", turn.intent), ("feels ", turn.emotion)):
        if value is not None:
            yield f"{name}{value}"
    if turn.feedback is not None:
        yield f"feedback {turn.feedback}"


def _text(text: str) -> str:
    return printable(text, kept="\n\t")
