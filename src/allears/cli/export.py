"""`allears export`: a trained model as a bundle for the light runtime."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from allears.cli.output import console
from allears.errors import AllearsError
from allears.runtime.bundle import CARD_FILE
from allears.runtime.causal import KIND as LANGUAGE_MODEL
from allears.runtime.runs import is_kind


def export(
    run: Path = typer.Argument(
        help="The run folder of a trained bi_encoder or cobert, or of a joint run: all of its parts are exported. "
        "Or a bundle, to which parts are added; or the run of a language model's adapter."
    ),
    out: Path = typer.Option(..., "--out", help="The bundle folder to write; a bundle there is replaced."),
    reader: Path | None = typer.Option(
        None,
        "--reader",
        metavar="RUN",
        help="The run folder of a reader on the same encoder: its heads go into the bundle too.",
        show_default=False,
    ),
    extractor: Path | None = typer.Option(
        None,
        "--extractor",
        metavar="RUN",
        help="The run folder of a persona extractor on the same encoder: it goes into the bundle too.",
        show_default=False,
    ),
    voice: Path | None = typer.Option(
        None,
        "--voice",
        metavar="RUN",
        help="The run folder of a generator on the same encoder: it goes into the bundle too.",
        show_default=False,
    ),
    screen: Path | None = typer.Option(
        None,
        "--screen",
        metavar="RUN",
        help="The run folder of a reader of danger (recipes/crisis-screen.toml): the bundle's crisis screen.",
        show_default=False,
    ),
    precision: str = typer.Option("int8", "--precision", help="int8, float16 or float32."),
    keep_float: list[str] = typer.Option(
        [],
        "--keep-float",
        metavar="NAME",
        help="With int8, leave nodes whose name contains this in float32, such as layer.11.",
        show_default=False,
    ),
    base: Path | None = typer.Option(
        None,
        "--base",
        metavar="RUN",
        help="The run that this one was fine-tuned from: only the change is stored, beside the base's weights.",
        show_default=False,
    ),
    rank: int = typer.Option(32, "--rank", help="With --base: how finely the change is stored.", min=1),
    metrics: Path | None = typer.Option(
        None,
        "--metrics",
        metavar="FILE",
        help="A JSON object to note in the bundle, such as what `evaluate --json` printed.",
        show_default=False,
    ),
) -> None:
    """Export a trained model to ONNX, for machines without torch.

    With --reader, --extractor and --voice, one bundle ranks replies, reads what was said, learns who said it and
    writes replies of its own, on one encoder. All must have been trained on it: together, or with the encoder frozen.
    A --screen has begun as that encoder and learned danger alone; only its change is stored.
    The folder of a joint run brings all of its parts. With --base, and a bundle of that base already in --out, the
    files of the base stay untouched and the new version adds a few megabytes. A bundle in the place of a run is
    copied to --out (or stays where it is) and gets the parts that are named. A language model's adapter becomes half as
    large, in int8; it is no part of a bundle.

    \b
    allears export runs/default --out bundles/default
    allears export runs/ed-cobert --out bundles/ed-cobert
    allears export runs/cobert --reader runs/reader-frozen --out bundles/mine
    allears export runs/ed-bi-encoder --out bundles/exact --precision float32
    allears export runs/default --base runs/dialogue-pretrain --out bundles/default
    allears export bundles/default --voice runs/esconv-pal --out bundles/default
    allears export bundles/default --screen runs/crisis-screen --out bundles/default
    allears export runs/esconv-smollm2 --out adapters/mine
    """
    if is_kind(run, LANGUAGE_MODEL):
        if reader or extractor or voice or screen or base or keep_float or metrics or precision != "int8":
            raise AllearsError(
                f"{run}: this is a language model's adapter, which is exported alone and in int8; "
                "give --out and nothing else"
            )
        _export_adapter(run, out)
        return
    measured = {} if metrics is None else _read_metrics(metrics)
    try:
        from allears.models.extractor import saved as extractors
        from allears.models.generation import saved as voices
        from allears.models.reader import saved as readers
        from allears.models.selection import saved as rankers
        from allears.training.export.bundle import add_to_copy, export_together, parts_of
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("allears"):  # our own fault, not a missing install
            raise
        raise AllearsError(
            f'exporting needs {error.name}, which is not installed; run pip install "allears[train]"'
        ) from error
    parts = {} if (run / CARD_FILE).is_file() else parts_of(run)
    reader, extractor = reader or parts.get("reader"), extractor or parts.get("extractor")
    beside: dict[str, Any] = {
        "reader": None if reader is None else readers.load(reader),
        "extractor": None if extractor is None else extractors.load(extractor),
        "voice": None if voice is None else voices.load(voice),
        "screen": None if screen is None else readers.load(screen),
    }
    if not parts:
        if base is not None or keep_float or measured or precision != "int8":
            raise AllearsError(
                f"{run}: this is a bundle already, so --base, --precision, --keep-float and --metrics have no use; "
                "leave them out, or give the ranker's run"
            )
        card = add_to_copy(run, out, **beside)
    else:
        card = export_together(
            rankers.load(parts["ranker"]),
            out,
            **beside,
            precision=precision,
            metrics=measured,
            keep_float=keep_float,
            base=None if base is None else rankers.load(base),
            rank=rank,
        )
    console.print(
        f"{out}: {card.name}, {card.precision}, {card.fingerprint}", highlight=False, soft_wrap=True
    )
    _show_sizes({name: facts.bytes for name, facts in card.files.items()})


def _export_adapter(run: Path, out: Path) -> None:
    try:
        from allears.training.export.adapter import export_adapter
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("allears"):
            raise
        raise AllearsError(
            f'exporting an adapter needs {error.name}, which is not installed; run pip install "allears[llm]"'
        ) from error
    written = export_adapter(run, out)
    console.print(f"{out}: {LANGUAGE_MODEL}, int8", highlight=False, soft_wrap=True)
    _show_sizes({path.name: path.stat().st_size for path in written})


def _show_sizes(files: Mapping[str, int]) -> None:
    table = Table("file", "MB")
    table.columns[1].justify = "right"
    for name, size in files.items():
        table.add_row(name, f"{size / 1e6:.1f}")
    table.add_section()
    table.add_row("together", f"{sum(files.values()) / 1e6:.1f}")
    console.print(table)


def _read_metrics(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AllearsError(f"{path}: cannot be read as JSON ({error})") from error
    if not isinstance(found, dict):
        raise AllearsError(f"{path}: expected a JSON object of metrics")
    return found
