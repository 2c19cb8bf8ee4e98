"""`allears generate`: let a generator answer a corpus, for a smaller one to learn from."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import typer

from allears import __version__
from allears.cli.evaluate_generation import TABLE, alpha_table
from allears.cli.output import errors
from allears.cli.progress import watched
from allears.corpora import corpus as corpus_named
from allears.decoding import decoding as decoding_named
from allears.errors import AllearsError
from allears.evaluation.annotation_file import annotate_to, check_annotation_path
from allears.evaluation.written import AT_ONCE, WriteResponses, contexts
from allears.models.generation.loading import load_generator


def generate(
    model: str = typer.Argument(help="A generator's run folder, `default` or `smollm2`."),
    *,
    corpus: str = typer.Option(
        ...,
        "--corpus",
        help="A corpus (see `allears data list`) or a .jsonl file in our schema.",
        show_default=False,
    ),
    split: str = typer.Option("train", "--split", help="train, valid or test; several joined: train+valid."),
    out: Path = typer.Option(..., "--out", help="The .jsonl file to write.", show_default=False),
    root: Path | None = typer.Option(
        None,
        "--root",
        help="Folder of all corpora, one corpus's folder, or the very file. Default: $ALLEARS_DATA.",
        show_default=False,
    ),
    limit: int | None = typer.Option(
        None, "--limit", min=1, help="Only the first N contexts.", show_default=False
    ),
    alpha: str = typer.Option(
        TABLE,
        "--alpha",
        help="How much a strategy leans on the persona: `table`, or one number; 0 switches it off.",
    ),
    decoding: str = typer.Option("sample", "--decoding", help="sample (PAL's), greedy or beam."),
    seed: int = typer.Option(0, "--seed", min=0, help="Another seed writes other replies."),
    device: str = typer.Option("cpu", "--device", help="cpu or cuda."),
) -> None:
    """Write a generator's own reply to every context of a corpus, as a corpus.

    A small generator learns more easily from a large one's replies than from people's (sequence-level distillation):
    name the file in `data.train` of its recipe. A run that was killed goes on where it stopped when the same command
    is given again.

    Examples:

        allears generate runs/esconv-smollm2 --corpus pesconv-train.jsonl --out "$ALLEARS_DATA/esconv-written.jsonl"

        allears generate smollm2 --corpus ed --limit 2000 --out ed-written.jsonl
    """
    # Whatever can be wrong is found before the long part begins.
    settings, alphas = decoding_named(decoding), alpha_table(alpha)
    check_annotation_path(out)
    corpus_named(corpus)
    generator = load_generator(model, device)
    stream = contexts(corpus, split, root)
    if limit is not None:
        stream = islice(stream, limit)
    asked = {
        "corpus": corpus, "split": split, "add": "response", "model": model, "alpha": alpha, "decoding": decoding,
        "seed": seed, "limit": limit, "allears": __version__,
    }  # fmt: skip
    write = WriteResponses(generator, model, settings=settings, alphas=alphas, seed=seed)
    done = annotate_to(out, watched(stream, "writing replies", limit), write, asked, at_once=AT_ONCE)
    if not done.conversations:
        raise AllearsError(f"in the {split} split of {corpus} nobody answers another person")
    again = f", {done.resumed:,} of them from an earlier run" if done.resumed else ""
    errors.print(
        f"wrote {done.conversations:,} replies to {out}{again}", highlight=False, markup=False, soft_wrap=True
    )
