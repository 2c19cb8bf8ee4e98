"""Where commands print: results on standard output, everything else on standard error."""

from rich.console import Console

console = Console()
errors = Console(stderr=True)
