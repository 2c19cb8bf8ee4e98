"""The command line. Each command group is one file; all of them only parse, call and print."""

from __future__ import annotations

import sys

import typer
from rich.markup import escape

from allears import __version__
from allears.cli import welcome
from allears.cli.lazily import LazyCommands
from allears.cli.output import console, errors
from allears.errors import AllearsError

app = typer.Typer(
    name="allears",
    cls=LazyCommands,
    help="Conversation that understands how a person feels, remembers who they are and answers with care.",
    no_args_is_help=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def first_page(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and leave."),
) -> None:
    if version:
        console.print(f"allears {__version__}", highlight=False)
    elif context.invoked_subcommand is None:
        console.print(welcome.page())


def main() -> None:
    """Run the command line. What a person can mend is one sentence and exit code 2, never a traceback."""
    try:
        app()
    except AllearsError as error:
        errors.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(2)
    except BrokenPipeError:  # `allears data show ed | head`
        sys.exit(0)


if __name__ == "__main__":
    main()
