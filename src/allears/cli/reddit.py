"""`allears reddit`: persona conversations from Reddit dumps."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import typer
from rich.progress import track

from allears.cli.output import console, errors

app = typer.Typer(help="Build persona conversations from Reddit dumps.", no_args_is_help=True)


@app.command()
def sample(
    comments: Path = typer.Argument(help="Comments, one JSON record a line (.zst, .gz or plain)."),
    submissions: Path = typer.Option(None, help="Submissions, likewise."),
    out: Path = typer.Option(
        Path("reddit.jsonl.gz"), help="Where the conversations go: a gzipped .jsonl file."
    ),
    persona: bool = typer.Option(True, help="Keep only respondents with at least one persona sentence."),
) -> None:
    """Turn a sample that fits in memory into PEC-like conversations, split 8:1:1 by thread.

    \b
    allears reddit sample RC_sample.zst --submissions RS_sample.zst --out reddit.jsonl.gz
    allears reddit sample RC_sample.zst --no-persona --out reddit-all.jsonl.gz
    """
    from allears.corpora.reddit.sample import build

    counts: Counter[str] = Counter()
    temporary = out.with_name(out.name + ".part")
    with gzip.open(temporary, "wt", encoding="utf-8") as file:
        found = build(comments, submissions, need_persona=persona)
        for conversation in track(found, "building", console=errors, transient=True):
            counts[conversation.split] += 1
            file.write(conversation.to_json() + "\n")
    temporary.rename(out)
    console.print(
        f"{sum(counts.values()):,} conversations in {out}: {dict(sorted(counts.items()))}", highlight=False
    )
