"""`allears replay`: people's scripted messages through the listener, so that its replies can be read and compared."""

from __future__ import annotations

from pathlib import Path

from allears.cli.options import Bundle, ScriptLimit, argument, value
from allears.cli.output import say
from allears.cli.progress import watched
from allears.errors import AllearsError


def replay(
    scripts: Path = argument('A file with one script a line: {"id": ..., "messages": [...]}.'),
    *,
    out: Path = value(..., "Where the replies go (.jsonl); replaced once all are there.", show_default=False),
    voice: str = value("default", "Who writes, as in `allears chat --voice`."),
    bundle: Bundle = "default",
    limit: ScriptLimit = None,
    seed: int = value(0, "The same seed gives the same replies.", min=0),
) -> None:
    """Let a listener answer scripted people, one conversation for each script.

    Each script's messages are said in order, whatever the answers are. A line comes out for each script:
    id, messages, replies, kinds (reply, check-in, crisis, ...), sources and seconds.

    \b
    allears replay benchmarks/scripts/plain.jsonl --out replies.jsonl
    allears replay scripts.jsonl --voice small --limit 20 --out small.jsonl
    """
    from allears.cli.chat import open_listener
    from allears.evaluation.replay import read_scripts, write_replayed
    from allears.evaluation.replay import replay as replay_scripts
    from allears.evaluation.sampling import plain_sample

    read = plain_sample(read_scripts(scripts), limit, seed)
    if not out.parent.is_dir():
        raise AllearsError(f"{out}: there is no folder {out.parent}")
    listener = open_listener(bundle, (), None, watched, voice)
    done = replay_scripts(watched(read, "replaying", len(read)), listener, seed=seed)
    count = write_replayed(done, out)
    say(f"{count} conversations in {out}", "dim")
