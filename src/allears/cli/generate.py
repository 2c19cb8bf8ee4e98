"""`allears generate`: let a generator answer a corpus, for a smaller one to learn from."""

from __future__ import annotations

import typer

from allears.cli import options
from allears.cli.options import optional, value
from allears.cli.output import say
from allears.cli.progress import watched
from allears.evaluation.measured_generation import TABLE
from allears.evaluation.written import write_corpus_replies


def generate(
    model: str = typer.Argument(help="A generator's run folder, `default` or `smollm2`."),
    *,
    corpus: str = value(
        ..., "A corpus (see `allears data list`) or a .jsonl file in our schema.", show_default=False
    ),
    split: str = value("train", "train, valid or test; several joined: train+valid."),
    out: options.LinesOut,
    root: options.Root = None,
    limit: int | None = optional("Only the first N contexts.", min=1),
    alpha: str = value(
        TABLE, "How much a strategy leans on the persona: `table`, or one number; 0 switches it off."
    ),
    decoding: str = value("sample", "sample (PAL's), greedy or beam."),
    seed: int = value(0, "Another seed writes other replies.", min=0),
    device: options.Device = "cpu",
) -> None:
    """Write a generator's own reply to every context of a corpus, as a corpus.

    A small generator learns more easily from a large one's replies than from people's (sequence-level distillation):
    name the file in `data.train` of its recipe. A run that was killed goes on where it stopped when the same command
    is given again.

    Examples:

        allears generate runs/esconv-smollm2 --corpus pesconv-train.jsonl --out "$ALLEARS_DATA/esconv-written.jsonl"

        allears generate smollm2 --corpus ed --limit 2000 --out ed-written.jsonl
    """
    done = write_corpus_replies(
        model,
        out,
        corpus=corpus,
        split=split,
        root=root,
        limit=limit,
        alpha=alpha,
        decoding=decoding,
        seed=seed,
        device=device,
        watch=watched,
    )
    say(f"wrote {done.conversations:,} replies to {out}{done.again}")
