"""The first page: what a person sees who types `allears` and nothing else."""

from __future__ import annotations

from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from allears import __version__

COMMANDS = {
    "allears chat": "talk; /why says what is behind a reply",
    "allears data list": "the corpora, their licences, what is here",
    "allears data show ed --random": "a conversation as a person reads one",
    "allears data stats esconv": "counts, lengths, emotions, strategies",
    "allears train RECIPE": "train a response-selection model",
    "allears evaluate selection RUN": "R@k and MRR, with intervals",
    "allears index build POOL": "replies, ready to be searched",
    "allears --help": "everything else",
}


def page() -> Panel:
    table = Table.grid(padding=(0, 3))
    for command, what in COMMANDS.items():
        table.add_row(Text(command, style="cyan"), what)
    parts = Group(
        Text("I'm all ears.", style="bold"),
        "Talk to a listener on your own machine; read and measure conversations; train models.",
        "",
        table,
        "",
        Text(
            "This is no therapist and no crisis line. In danger, call your emergency number now.", style="dim"
        ),
    )
    return Panel(parts, title=f"allears {__version__}", border_style="cyan", width=88, padding=(1, 2))
