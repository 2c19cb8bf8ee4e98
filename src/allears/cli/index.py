"""`allears index`: a pool of replies, encoded once and searched in the blink of an eye."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import typer
from rich.table import Table

from allears.cli.output import console
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

FOLDER = typer.Argument(help="The index folder.")
POOL = typer.Argument(
    help="A file with a reply a line, a .jsonl file with `text` and `tags`, or a corpus such as ed."
)
SPLIT = typer.Option("train", "--split", help="Which split of a corpus.")
ROOT = typer.Option(None, "--root", help="Folder of the corpora. Default: $ALLEARS_DATA.", show_default=False)
DEDUPE = typer.Option(True, "--dedupe/--no-dedupe", help="Keep one of equal replies.")
DEVICE = typer.Option("cpu", "--device", help="cpu or cuda.")
MODEL = typer.Option(
    None,
    "--model",
    help="The model that built the index. Default: where it was then.",
    show_default=False,
)


@app.command()
def build(
    pool: str = POOL,
    *,
    model: str = typer.Option(DEFAULT, "--model", help="A run folder, a bundle folder, or `default`."),
    out: Path = typer.Option(..., "--out", help="The index folder to write; an index there is replaced."),
    split: str = SPLIT,
    root: Path | None = ROOT,
    dedupe: bool = DEDUPE,
    graph: bool | None = typer.Option(
        None,
        "--graph/--no-graph",
        help="Prepare approximate search. Default: for 20,000 replies and more, if FAISS is installed.",
        show_default=False,
    ),
    device: str = DEVICE,
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
    folder: Path = FOLDER,
    message: list[str] = typer.Argument(help="What the person says; several are turns, theirs last."),
    *,
    persona: list[str] = typer.Option(
        [], "--persona", help="A sentence about whoever answers; may be given several times."
    ),
    k: int = typer.Option(5, "-k", min=1, help="How many replies."),
    first_stage: int = typer.Option(100, "--first-stage", min=1, help="How many the model ranks."),
    exact: bool | None = typer.Option(
        None,
        "--exact/--approximate",
        help="How the first stage searches. Default: approximate if the index is prepared for it.",
        show_default=False,
    ),
    model: str | None = MODEL,
    device: str = DEVICE,
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object for machines."),
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
        print(json.dumps({"hits": [asdict(hit) for hit in hits]}, ensure_ascii=False))
        return
    table = Table("score", "first stage", "id", "reply", "tags")
    for column in table.columns[:3]:
        column.justify = "right"
    for hit in hits:
        numbers = (f"{hit.score:.2f}", f"{hit.first_stage_score:.2f}", str(hit.id))
        table.add_row(*numbers, hit.text, ", ".join(hit.tags))
    console.print(table, markup=False)


@app.command()
def info(
    folder: Path = FOLDER, as_json: bool = typer.Option(False, "--json", help="Print one JSON object.")
) -> None:
    """What is in an index, and which model built it."""
    card = CandidateIndex(folder).card
    if as_json:
        print(json.dumps(asdict(card)))
        return
    table = Table.grid(padding=(0, 2))
    size = sum(file.stat().st_size for file in (folder / card.data).iterdir())
    for name, value in (
        ("replies", f"{card.candidates:,}"),
        ("tokens kept", f"{card.tokens:,}"),
        ("on disk", f"{size / 1e6:,.1f} MB"),
        ("search", "exact and approximate" if card.graph else "exact"),
        ("model", card.model or "not noted"),
        ("fingerprint", card.fingerprint),
    ):
        table.add_row(name, value)
    console.print(table, highlight=False)


@app.command()
def add(
    folder: Path = FOLDER,
    pool: str = POOL,
    *,
    split: str = SPLIT,
    root: Path | None = ROOT,
    model: str | None = MODEL,
    device: str = DEVICE,
) -> None:
    """Add the replies of another pool; those that are there already are left out."""
    index = _open(folder, model, device)
    count = index.add(read_candidates(pool, split=split, root=root), watch=watched)
    console.print(f"{folder}: {count:,} added, {len(index):,} replies now", highlight=False)


@app.command()
def remove(
    folder: Path = FOLDER, ids: list[int] = typer.Argument(help="Ids, as `search` shows them.")
) -> None:
    """Take replies out of an index, for good."""
    index = CandidateIndex(folder)
    count = index.remove(ids, watch=watched)
    console.print(f"{folder}: {count:,} removed, {len(index):,} replies now", highlight=False)


@app.command()
def merge(
    folder: Path = FOLDER, other: Path = typer.Argument(help="Another index, built by the same model.")
) -> None:
    """Take over the replies of another index, which stays as it is."""
    index = CandidateIndex(folder)
    count = index.merge(CandidateIndex(other), watch=watched)
    console.print(f"{folder}: {count:,} added, {len(index):,} replies now", highlight=False)


def _open(folder: Path, model: str | None, device: str) -> CandidateIndex:
    card = IndexCard.read(folder)
    return CandidateIndex(folder, load_selector(model or card.model or DEFAULT, device))
