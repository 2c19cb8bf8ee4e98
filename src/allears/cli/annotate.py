"""`allears annotate`: give a corpus the labels it lacks."""

from __future__ import annotations

import typer

from allears.cli import options
from allears.cli.options import flag, optional, value
from allears.cli.output import say
from allears.cli.progress import watched
from allears.evaluation.annotate import EMOTION_HEADS
from allears.evaluation.annotating import annotate_corpus


def annotate(
    name: str = typer.Argument(
        help="A corpus (see `allears data list`) or a .jsonl file in our schema.", metavar="CORPUS"
    ),
    *,
    add: str = value(..., "persona, emotion, intent, mechanisms or act.", show_default=False),
    out: options.LinesOut,
    split: str | None = optional("train, valid or test. Default: the first that is here."),
    model: str = value(
        "default",
        "For persona an extractor's run folder; otherwise a reader's, a bundle, or `fasttext` (fitted first).",
    ),
    head: str = value(EMOTION_HEADS[0], f"For emotion: {', '.join(EMOTION_HEADS)}."),
    encoder: str | None = optional("For persona: also join sentences alike by this sentence encoder."),
    replace: bool = flag("--replace", "Write over what a conversation has already."),
    limit: int | None = optional("Only the first N conversations.", min=1),
    root: options.Root = None,
    device: options.Device = "cpu",
) -> None:
    """Write a split with one thing more: who the seeker is, what they feel, what the supporter does.

    The file is in our schema, and every command reads it. A run that was killed goes on where it stopped when the
    same command is given again.

    Examples:

        allears annotate esconv --split train --add persona --model runs/persona-extractor --out pesconv.jsonl

        allears annotate pec --split train --add emotion --model fasttext --out pec-emotions.jsonl

        allears annotate pec-emotions.jsonl --add mechanisms --model runs/reader --out pec-more.jsonl
    """
    done = annotate_corpus(
        name,
        out,
        add=add,
        split=split,
        model=model,
        head=head,
        encoder=encoder,
        replace=replace,
        limit=limit,
        root=root,
        device=device,
        watch=watched,
    )
    say(f"wrote {done.conversations:,} conversations to {out}{done.again}")
