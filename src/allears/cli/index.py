"""`allears index`: a pool of replies, encoded once and searched in the blink of an eye."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from allears.cli.options import Device, flag, optional, shared, unset, value
from allears.cli.output import console, framed_table, print_json
from allears.cli.progress import watched
from allears.conversation import Role, Turn
from allears.models.selection.loading import load_selector
from allears.runtime.bundle import DEFAULT
from allears.runtime.candidates import read_candidates
from allears.runtime.index import CandidateIndex
from allears.runtime.index_files import IndexCard
from allears.runtime.selector import Query

app = typer.Typer(
    help="Build and search an index of replies.", no_args_is_help=True, rich_markup_mode="markdown"
)

Folder = Annotated[Path, typer.Argument(help="The index folder.")]
Pool = Annotated[
    str,
    typer.Argument(
        help="A file with a reply a line, a .jsonl file with `text` and `tags`, or a corpus such as ed."
    ),
]
Split = Annotated[str, shared("Which split of a corpus.")]
Root = Annotated[Path | None, unset("Folder of the corpora. Default: $ALLEARS_DATA.")]
Model = Annotated[str | None, unset("The model that built the index. Default: where it was then.")]


@app.command()
def build(
    pool: Pool,
    *,
    model: str = value(DEFAULT, "A run folder, a bundle folder, or `default`."),
    out: Path = value(..., "The index folder to write; an index there is replaced."),
    split: Split = "train",
    root: Root = None,
    dedupe: bool = value(True, "Keep one of equal replies."),
    graph: bool | None = optional(
        "Prepare approximate search. Default: for 20,000 replies and more, if FAISS is installed."
    ),
    device: Device = "cpu",
) -> None:
    """Encode a pool of replies.

    \b
    allears index build replies.txt --model runs/ed-cobert --out indexes/mine
    allears index build ed --split train --out indexes/ed
    """
    selector = load_selector(model, device)
    candidates = read_candidates(pool, split=split, root=root, dedupe=dedupe)
    place = model if model == DEFAULT else str(Path(model).resolve())
    index = CandidateIndex.build(out, candidates, selector, model=place, graph=graph, watch=watched)
    how = "exact and approximate search" if index.card.graph else "exact search"
    console.print(f"{out}: {len(index):,} replies, {how}", highlight=False)


@app.command()
def search(
    folder: Folder,
    message: list[str] = typer.Argument(help="What the person says; several are turns, theirs last."),
    *,
    persona: list[str] = value([], "A sentence about whoever answers; may be given several times."),
    k: int = value(5, "How many replies.", "-k", min=1),
    first_stage: int = value(100, "How many the model ranks.", min=1),
    exact: bool | None = optional(
        "How the first stage searches. Default: approximate if the index is prepared for it.",
        "--exact/--approximate",
    ),
    model: Model = None,
    device: Device = "cpu",
    as_json: bool = flag("--json", "Print one JSON object for machines."),
) -> None:
    """The replies that fit a message best.

    \b
    allears index search indexes/ed "My dog died yesterday." -k 3
    allears index search indexes/ed "I got the job!" --persona "I love to cook." --json
    """
    index = _open(folder, model, device)
    # the last turn is theirs, so the ones before it take turns backwards
    speakers = [Role.SEEKER if back % 2 == 0 else Role.SUPPORTER for back in range(len(message))][::-1]
    turns = tuple(Turn(speaker, text) for speaker, text in zip(speakers, message, strict=True))
    hits = index.search(Query(turns, tuple(persona)), k=k, first_stage=first_stage, exact=exact)
    if as_json:
        print_json({"hits": [asdict(hit) for hit in hits]}, ascii_only=False)
        return
    numbers = ("score", "first stage", "id")
    table = framed_table(*numbers, "reply", "tags", numbers=numbers)
    for hit in hits:
        scores = f"{hit.score:.2f}", f"{hit.first_stage_score:.2f}"
        table.add_row(*scores, str(hit.id), hit.text, ", ".join(hit.tags))
    console.print(table, markup=False)


@app.command()
def info(folder: Folder, as_json: bool = flag("--json", "Print one JSON object.")) -> None:
    """What is in an index, and which model built it."""
    card = CandidateIndex(folder).card
    if as_json:
        print_json(asdict(card))
        return
    table = Table.grid(padding=(0, 2))
    size = sum(file.stat().st_size for file in (folder / card.data).iterdir())
    for name, fact in (
        ("replies", f"{card.candidates:,}"),
        ("tokens kept", f"{card.tokens:,}"),
        ("on disk", f"{size / 1e6:,.1f} MB"),
        ("search", "exact and approximate" if card.graph else "exact"),
        ("model", card.model or "not noted"),
        ("fingerprint", card.fingerprint),
    ):
        table.add_row(name, fact)
    console.print(table, highlight=False)


@app.command()
def add(
    folder: Folder,
    pool: Pool,
    *,
    split: Split = "train",
    root: Root = None,
    model: Model = None,
    device: Device = "cpu",
) -> None:
    """Add the replies of another pool; those that are there already are left out."""
    index = _open(folder, model, device)
    count = index.add(read_candidates(pool, split=split, root=root), watch=watched)
    console.print(f"{folder}: {count:,} added, {len(index):,} replies now", highlight=False)


@app.command()
def remove(folder: Folder, ids: list[int] = typer.Argument(help="Ids, as `search` shows them.")) -> None:
    """Take replies out of an index, for good."""
    index = CandidateIndex(folder)
    count = index.remove(ids, watch=watched)
    console.print(f"{folder}: {count:,} removed, {len(index):,} replies now", highlight=False)


@app.command()
def merge(
    folder: Folder, other: Path = typer.Argument(help="Another index, built by the same model.")
) -> None:
    """Take over the replies of another index, which stays as it is."""
    index = CandidateIndex(folder)
    count = index.merge(CandidateIndex(other), watch=watched)
    console.print(f"{folder}: {count:,} added, {len(index):,} replies now", highlight=False)


def _open(folder: Path, model: str | None, device: str) -> CandidateIndex:
    card = IndexCard.read(folder)
    return CandidateIndex(folder, load_selector(model or card.model or DEFAULT, device))
