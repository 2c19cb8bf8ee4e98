"""`allears export`: a trained model as a bundle for the light runtime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import typer

from allears.cli.options import optional, value
from allears.cli.output import console, framed_table
from allears.errors import AllearsError, needs
from allears.runtime.causal import KIND as LANGUAGE_MODEL
from allears.runtime.gguf_card import KIND as VOICE
from allears.runtime.runs import is_kind


def export(
    run: Path = typer.Argument(
        help="The run folder of a trained bi_encoder or cobert, or of a joint run: all of its parts are exported. "
        "Or a bundle, to which parts are added; or the run of a language model's adapter."
    ),
    out: Path = value(..., "The bundle folder to write; a bundle there is replaced."),
    reader: Path | None = optional(
        "The run folder of a reader on the same encoder: its heads go into the bundle too.", metavar="RUN"
    ),
    extractor: Path | None = optional(
        "The run folder of a persona extractor on the same encoder: it goes into the bundle too.",
        metavar="RUN",
    ),
    voice: Path | None = optional(
        "The run folder of a generator on the same encoder: it goes into the bundle too.", metavar="RUN"
    ),
    screen: Path | None = optional(
        "The run folder of a reader of danger (recipes/crisis-screen.toml): the bundle's crisis screen.",
        metavar="RUN",
    ),
    precision: str = value("int8", "int8, float16 or float32."),
    keep_float: list[str] = value(
        [],
        "With int8, leave nodes whose name contains this in float32, such as layer.11.",
        metavar="NAME",
        show_default=False,
    ),
    base: Path | None = optional(
        "The run that this one was fine-tuned from: only the change is stored, beside the base's weights. Of a voice: "
        "the .gguf file, or the name in `allears voice list`, that its adapter is laid over.",
        metavar="RUN",
    ),
    rank: int = value(32, "With --base: how finely the change is stored.", min=1),
    metrics: Path | None = optional(
        "A JSON object to note in the bundle, such as what `evaluate --json` printed.", metavar="FILE"
    ),
) -> None:
    """Export a trained model to ONNX, for machines without torch.

    With --reader, --extractor and --voice, one bundle ranks replies, reads what was said, learns who said it and
    writes replies of its own, on one encoder. All must have been trained on it: together, or with the encoder frozen.
    A --screen has begun as that encoder and learned danger alone; only its change is stored.
    The folder of a joint run brings all of its parts. With --base, and a bundle of that base already in --out, the
    files of the base stay untouched and the new version adds a few megabytes. A bundle in the place of a run is
    copied to --out (or stays where it is) and gets the parts that are named. A language model's adapter becomes half as
    large, in int8; it is no part of a bundle. A voice's adapter becomes a GGUF file, for llama.cpp.

    \b
    allears export runs/default --out bundles/default
    allears export runs/ed-cobert --out bundles/ed-cobert
    allears export runs/cobert --reader runs/reader-frozen --out bundles/mine
    allears export runs/ed-bi-encoder --out bundles/exact --precision float32
    allears export runs/default --base runs/dialogue-pretrain --out bundles/default
    allears export bundles/default --voice runs/esconv-pal --out bundles/default
    allears export bundles/default --screen runs/crisis-screen --out bundles/default
    allears export runs/esconv-smollm2 --out adapters/mine
    allears export runs/voice --out voices/mine
    """
    others = (reader, extractor, voice, screen, keep_float, metrics, precision != "int8")
    if is_kind(run, VOICE):
        if any(others):
            raise AllearsError(
                f"{run}: this is a voice's adapter, which is exported alone and in float16; give --out, and --base "
                "where it is laid over another model than the default voice's"
            )
        with needs("exporting a voice"):
            from allears.training.export.gguf_voice import DEFAULT_BASE, export_gguf_voice
        files = export_gguf_voice(run, out, str(base or DEFAULT_BASE))
        _show(f"{out}: {VOICE}, float16", {path.name: path.stat().st_size for path in files})
        return
    if is_kind(run, LANGUAGE_MODEL):
        if base or any(others):
            raise AllearsError(
                f"{run}: this is a language model's adapter, which is exported alone and in int8; "
                "give --out and nothing else"
            )
        with needs("exporting an adapter", "llm"):
            from allears.training.export.adapter import export_adapter
        sizes = {path.name: path.stat().st_size for path in export_adapter(run, out)}
        _show(f"{out}: {LANGUAGE_MODEL}, int8", sizes)
        return
    with needs("exporting"):
        from allears.training.export.runs import PartRuns, export_run
    card = export_run(
        run,
        out,
        PartRuns(reader, extractor, voice, screen),
        precision=precision,
        keep_float=keep_float,
        base=base,
        rank=rank,
        metrics=metrics,
    )
    sizes = {name: facts.bytes for name, facts in card.files.items()}
    _show(f"{out}: {card.name}, {card.precision}, {card.fingerprint}", sizes)


def _show(summary: str, sizes: Mapping[str, int]) -> None:
    console.print(summary, highlight=False, soft_wrap=True)
    table = framed_table("file", "MB", numbers=["MB"])
    for name, size in sizes.items():
        table.add_row(name, f"{size / 1e6:.1f}")
    table.add_section()
    table.add_row("together", f"{sum(sizes.values()) / 1e6:.1f}")
    console.print(table)
