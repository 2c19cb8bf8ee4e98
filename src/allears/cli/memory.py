"""`allears memory`: what is kept about you; look at it, correct it, take it with you, erase it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from allears.cli.conversation_view import ConversationView
from allears.cli.options import Yes, argument, optional, shared, unset
from allears.cli.output import console, count_of, errors, printable
from allears.errors import AllearsError
from allears.memory import Counts, Memory, StoredSentence
from allears.memory.export import exported_sentence

app = typer.Typer(
    help="What is kept about you: look at it, correct it, take it with you, erase it.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

ANSWERS = {"yes": True, "no": False}
Person = Annotated[str, shared("Whose memory. In the chat you are `me`.")]
Database = Annotated[
    str | None,
    unset(
        "A SQLite file or a PostgreSQL URL. Default: a file in your data folder.", envvar="ALLEARS_DATABASE"
    ),
]
AsJson = Annotated[bool, shared("Print JSON for machines.", "--json")]
Which = Annotated[str, argument("A sentence's number in `allears memory show`, or its id.")]


@app.command("list")
def list_(*, person: Person = "me", database: Database = None, as_json: AsJson = False) -> None:
    """Your conversations, the latest first.

    \b
    allears memory list
    allears memory list --json
    """
    with Memory(database) as memory:
        found = memory.conversations(person)
    if as_json:
        _print_json(
            [
                {
                    "id": each.id,
                    "started": each.started.isoformat(),
                    "last": each.last.isoformat(),
                    "turns": each.turns,
                    "first_words": each.first_words,
                }
                for each in found
            ]
        )
        return
    if not found:
        errors.print("no conversation is stored", style="dim")
        return
    table = Table("conversation", "last", "turns", "first words")
    table.columns[0].no_wrap = table.columns[1].no_wrap = True
    table.columns[2].justify = "right"
    for each in found:  # as much of an id as `show` needs
        time = f"{each.last.astimezone():%Y-%m-%d %H:%M}"
        table.add_row(each.id[:8], time, str(each.turns), Text(printable(each.first_words)))
    console.print(table, highlight=False)


@app.command()
def show(
    conversation: str | None = typer.Argument(
        None,
        help="A conversation's id, or its beginning. Default: what is known about you.",
        show_default=False,
    ),
    *,
    person: Person = "me",
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """What is known about you, with where it comes from; or one conversation.

    \b
    allears memory show
    allears memory show 3f8a1c
    allears memory show --json
    """
    with Memory(database) as memory:
        if conversation is not None:
            talk = memory.load(person, _whole_id(memory, person, conversation))
            if as_json:
                _print_json(json.loads(talk.to_json()))
            else:
                console.print(ConversationView(replace(talk, labels={})))
            return
        agreed, sentences = memory.consent(person), memory.sentences(person)
    if as_json:
        _print_json({"consent": agreed, "persona": [exported_sentence(each) for each in sentences]})
        return
    for number, sentence in enumerate(sentences, 1):
        _show_sentence(number, sentence)
    if not sentences:
        errors.print("nothing is known about you", style="dim")
    errors.print(_about_consent(agreed), style="dim", soft_wrap=True)


@app.command()
def export(
    *,
    out: Path | None = optional("The file to write. Default: standard output."),
    person: Person = "me",
    database: Database = None,
) -> None:
    """Everything that is stored about you, as JSON.

    \b
    allears memory export > me.json
    allears memory export --out me.json
    """
    with Memory(database) as memory:
        found = memory.export(person)
    if out is None:
        _print_json(found)
        return
    try:
        with open(out, "w", encoding="utf-8", opener=_private) as stream:
            stream.write(_as_json(found) + "\n")
    except OSError as error:
        raise AllearsError(f"{out}: cannot be written ({error.strerror})") from error
    count = len(found["conversations"])
    console.print(
        f"{out}: {count_of(count, 'conversation')}, {count_of(len(found['persona']), 'sentence')}",
        highlight=False,
    )


@app.command()
def edit(
    which: Which,
    text: str = argument("What it should say."),
    *,
    person: Person = "me",
    database: Database = None,
) -> None:
    """Say a sentence about you in your own words. Nothing that is learned later overwrites it.

    \b
    allears memory edit 2 "I live in Antwerp."
    """
    with Memory(database) as memory:
        memory.edit_persona(person, which, text)
    console.print("changed", highlight=False)


@app.command()
def forget(which: Which, *, person: Person = "me", database: Database = None) -> None:
    """Forget a sentence about you, in every conversation, with all that it said before.

    \b
    allears memory forget 2
    """
    with Memory(database) as memory:
        memory.forget_sentence(person, which)
    console.print("forgotten", highlight=False)


@app.command()
def erase(
    *,
    conversation: str | None = optional("Erase only this conversation and what it told."),
    yes: Yes = False,
    person: Person = "me",
    database: Database = None,
) -> None:
    """Erase everything about you, for good.

    \b
    allears memory erase
    allears memory erase --yes
    allears memory erase --conversation 3f8a1c
    """
    with Memory(database) as memory:
        if conversation is not None:
            name = _whole_id(memory, person, conversation)
            _confirm(f"Erase conversation {name} and what it told about you?", yes)
            counts = memory.delete_conversation(person, name)
        else:
            _confirm(f"Erase everything about {person} in {memory.place}? It cannot be brought back.", yes)
            counts = memory.erase(person)
    console.print(f"erased: {_counted(counts)}", highlight=False)


@app.command()
def consent(
    answer: str | None = typer.Argument(None, help="yes or no. Default: show it.", show_default=False),
    *,
    person: Person = "me",
    database: Database = None,
) -> None:
    """Whether you are remembered from one conversation to the next.

    Agreeing counts from your next message on. Taking it back keeps your conversations; none of them knows any longer
    what you said in another.

    \b
    allears memory consent
    allears memory consent yes
    allears memory consent no
    """
    if answer is not None and answer not in ANSWERS:
        raise AllearsError(f"the answer is yes or no, not {answer!r}")
    with Memory(database) as memory:
        if answer is not None:
            memory.set_consent(person, ANSWERS[answer])
        console.print(_about_consent(memory.consent(person)), highlight=False, soft_wrap=True)


def _whole_id(memory: Memory, person: str, beginning: str) -> str:
    """People type as much of an id as they need."""
    found = [each.id for each in memory.conversations(person) if each.id.startswith(beginning)]
    if len(found) > 1 and beginning:
        raise AllearsError(
            f"{count_of(len(found), 'conversation')} begin with {beginning!r}; type more of the id"
        )
    return found[0] if len(found) == 1 else beginning


def _show_sentence(number: int, sentence: StoredSentence) -> None:
    if sentence.conversation is None:
        origin = "written by you"
    else:
        said = "" if sentence.turn is None else f", turn {sentence.turn}"
        origin = f"conversation {sentence.conversation[:8]}{said}" + (", edited" if sentence.edited else "")
    place = "" if sentence.remembered else ", known there only"
    line = Text.assemble(f"{number:>3}  {printable(sentence.text)}  ", (f"{origin}{place}", "dim"))
    console.print(line, soft_wrap=True)
    for earlier in sentence.history:
        was = f"     was: {printable(earlier.text)} ({earlier.reason}, {earlier.until.astimezone():%Y-%m-%d})"
        console.print(Text(was, "dim"), soft_wrap=True)


def _about_consent(agreed: bool) -> str:
    if agreed:
        return "You agreed to be remembered from one conversation to the next (allears memory consent no)."
    return "You are not remembered from one conversation to the next (allears memory consent yes)."


def _confirm(question: str, yes: bool) -> None:
    if not yes and not typer.confirm(question, err=True):
        raise AllearsError("nothing was erased")


def _print_json(value: Any) -> None:
    typer.echo(_as_json(value))


def _as_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    readable = all(not "\ud800" <= sign <= "\udfff" for sign in text)  # no UTF-8 for half of a sign
    return text if readable else json.dumps(value, indent=2)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _counted(counts: Counts) -> str:
    parts: Sequence[tuple[int, str]] = (
        (counts.conversations, "conversation"),
        (counts.turns, "turn"),
        (counts.sentences, "sentence"),
    )
    return ", ".join(count_of(number, noun) for number, noun in parts)
