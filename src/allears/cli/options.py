"""Options that several commands share, and short ways to declare the others.

A shared one is a type (`root: Root = None`), so that commands may differ in its default. Where two commands say
different things about an option of one name, both are here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def shared(help: str, *names: str, **settings: Any) -> Any:
    """What stands behind the type in `Annotated`; the command's own signature gives the default."""
    return typer.Option(*names, help=help, **settings)


def unset(help: str, *names: str, **settings: Any) -> Any:
    """The same for an option that may be left out; its help says what happens then."""
    return typer.Option(*names, help=help, show_default=False, **settings)


def value(default: Any, help: str, *names: str, **settings: Any) -> Any:
    """An option with a default, which the help shows; `...` stands for one that must be given."""
    return typer.Option(default, *names, help=help, **settings)


def optional(help: str, *names: str, **settings: Any) -> Any:
    """An option that may be left out; its help says what happens then."""
    return typer.Option(None, *names, help=help, show_default=False, **settings)


def flag(name: str, help: str) -> Any:
    """A switch that is off unless it is given."""
    return typer.Option(False, name, help=help)


def argument(help: str, **settings: Any) -> Any:
    """An argument that must be given, so its help shows no default."""
    return typer.Argument(help=help, show_default=False, **settings)


# Which data
CorpusName = Annotated[
    str, shared("A corpus (see `allears data list`) or a .jsonl file in our schema.", "--corpus")
]
Root = Annotated[
    Path | None,
    unset("Folder of all corpora, one corpus's folder, or the very file. Default: $ALLEARS_DATA."),
]
CorporaRoot = Annotated[Path | None, unset("The folder of the corpora. Default: $ALLEARS_DATA.")]
Split = Annotated[str, shared("train, valid or test.")]
Splits = Annotated[str, shared("train, valid or test; several joined: valid+test.")]
FirstConversations = Annotated[int | None, shared("Only the first N conversations.", min=1)]
ScriptLimit = Annotated[int | None, shared("Only N scripts, a seeded sample.", min=1)]

# Which model, and where it computes
Against = Annotated[str | None, unset("Another model, for a paired comparison.")]
Bundle = Annotated[str, shared("A bundle folder, or `default`.")]
Device = Annotated[str, shared("cpu or cuda.")]

# How response selection is measured
Ranker = Annotated[
    str,
    typer.Argument(help="A run folder, a bundle folder, or `default` (the model that ships with allears)."),
]
CandidateCount = Annotated[int, shared("How many responses the true one is ranked among.", "--candidates")]
SampleOfSplit = Annotated[
    int | None,
    shared("A seeded sample of this many examples; candidates come from the whole split.", min=1),
]
SelectionSeed = Annotated[int, shared("Draws the candidates, the sample and the bootstrap.", min=0)]
ContextTurns = Annotated[int | None, unset("Turns of context. Default: as the corpus's paper.", min=1)]
Batch = Annotated[int, shared("Contexts scored together.", min=1)]

# What comes out
LinesOut = Annotated[Path, unset("The .jsonl file to write.", "--out")]
Plot = Annotated[Path | None, unset("Write the picture (.png, .svg or .pdf).")]
JsonTable = Annotated[bool, shared("Print one JSON object for machines instead of a table.", "--json")]
JsonTables = Annotated[bool, shared("Print one JSON object for machines instead of tables.", "--json")]
Yes = Annotated[bool, shared("Do not ask.", "--yes")]

# A server
Port = Annotated[int, shared("0 takes a free one.", min=0, max=65535)]
Quiet = Annotated[bool, shared("Log only what goes wrong.", "--quiet")]
