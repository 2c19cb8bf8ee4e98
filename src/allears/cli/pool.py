"""`allears pool`: the replies that the listener chooses from."""

from __future__ import annotations

from pathlib import Path

import typer

from allears.cli.options import flag, value
from allears.cli.output import console, framed_table, print_json
from allears.cli.progress import watched

app = typer.Typer(help="The replies that the listener chooses from.", no_args_is_help=True)


@app.callback()
def pool() -> None:
    """The replies that the listener chooses from."""


@app.command("review")
def review(
    file: Path | None = typer.Argument(
        None,
        help="Your own pool, a .jsonl file or a folder of them; left out: the one that ships.",
        show_default=False,
    ),
    *,
    bundle: str = value("default", "A bundle with a reader, or `default`."),
    show: int = value(10, "How many doubtful replies and pairs to print.", min=0),
    as_json: bool = flag("--json", "Print one JSON object instead."),
) -> None:
    """How empathetic the replies of a pool are, by our own EPITOME heads, and how much they repeat.

    \b
    allears pool review
    allears pool review mine.jsonl --show 50
    """
    from allears.listener.pool import read_pool, shipped_pool
    from allears.listener.pool.review import MECHANISMS, review_pool
    from allears.models.selection.loading import load_selector
    from allears.runtime.onnx_reader import OnnxReader

    lines = shipped_pool() if file is None else read_pool(file)
    selector = load_selector(bundle)
    reader = OnnxReader.from_bundle(bundle, encoder=selector.encoder, tokenizer=selector.tokenizer)
    found = review_pool(lines, selector, reader, watch=watched)
    doubtful = found.doubtful()
    if as_json:
        record = {
            "replies": len(lines),
            **{mechanism.replace("-", "_"): round(found.shown(mechanism), 2) for mechanism in MECHANISMS},
            "distinct_1": round(found.distinct_1, 2),
            "distinct_2": round(found.distinct_2, 2),
            "repetition": round(found.repetition, 2),
            "twins": len(found.twins),
            "doubtful": len(doubtful),
        }
        print_json(record)
        return
    numbers = ("replies", *MECHANISMS)
    title = "in how many replies a mechanism is found, %"
    table = framed_table("strategy", *numbers, numbers=numbers, title=title)
    for strategy in sorted({line.strategy for line in lines}):
        count = sum(line.strategy == strategy for line in lines)
        table.add_row(strategy, str(count), *(f"{found.shown(each, strategy):.0f}" for each in MECHANISMS))
    table.add_section()
    table.add_row("together", str(len(lines)), *(f"{found.shown(each):.0f}" for each in MECHANISMS))
    console.print(table)
    console.print(
        f"distinct-1 {found.distinct_1:.1f}, distinct-2 {found.distinct_2:.1f}, repeated three-word runs "
        f"{found.repetition:.1f}%; the commonest openings: "
        + ", ".join(f"{words} ({count})" for words, count in found.openings[:5]),
        soft_wrap=True,
    )
    console.print(f"{len(found.twins)} replies say what another one says", soft_wrap=True)
    for one, other in found.twins[:show]:
        console.print(f"  {one}  ·  {other}", soft_wrap=True, highlight=False, markup=False)
    console.print(f"{len(doubtful)} replies show nothing of what their strategy is there for", soft_wrap=True)
    for line in doubtful[:show]:
        console.print(f"  {line.strategy}: {line.text}", soft_wrap=True, highlight=False, markup=False)
