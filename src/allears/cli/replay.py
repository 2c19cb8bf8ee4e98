"""`allears replay`: people's scripted messages through the listener, so that its replies can be read and compared."""

from __future__ import annotations

from pathlib import Path

import typer

from allears.cli.output import errors
from allears.cli.progress import watched
from allears.errors import AllearsError


def replay(
    scripts: Path = typer.Argument(
        help='A file with one script a line: {"id": ..., "messages": [...]}.', show_default=False
    ),
    *,
    out: Path = typer.Option(
        help="Where the replies go (.jsonl); replaced once all are there.", show_default=False
    ),
    voice: str = typer.Option("default", "--voice", help="Who writes, as in `allears chat --voice`."),
    bundle: str = typer.Option("default", "--bundle", help="A bundle folder, or `default`."),
    limit: int | None = typer.Option(None, "--limit", min=1, help="Only N scripts, a seeded sample."),
    seed: int = typer.Option(0, "--seed", min=0, help="The same seed gives the same replies."),
) -> None:
    """Let a listener answer scripted people, one conversation for each script.

    Each script's messages are said in order, whatever the answers are. A line comes out for each script:
    id, messages, replies, kinds (reply, check-in, crisis, ...), sources and seconds.

    \b
    allears replay benchmarks/scripts/plain.jsonl --out replies.jsonl
    allears replay scripts.jsonl --voice small --limit 20 --out small.jsonl
    """
    import random

    from allears.cli.chat import open_listener
    from allears.evaluation.replay import read_scripts, write_replayed
    from allears.evaluation.replay import replay as replay_scripts

    read = read_scripts(scripts)
    if limit is not None and limit < len(read):
        kept = sorted(random.Random(seed).sample(range(len(read)), limit))
        read = [read[place] for place in kept]
    if not out.parent.is_dir():
        raise AllearsError(f"{out}: there is no folder {out.parent}")
    listener = open_listener(bundle, (), None, watched, voice)
    done = replay_scripts(watched(read, "replaying", len(read)), listener, seed=seed)
    count = write_replayed(done, out)
    errors.print(f"{count} conversations in {out}", style="dim", highlight=False)
