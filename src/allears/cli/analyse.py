"""`allears analyse`: the papers' figures about what is understood, on any model and corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from allears.cli.evaluate_tables import empty_table, short_name
from allears.cli.output import console
from allears.cli.progress import watched
from allears.corpora import corpus as corpus_named
from allears.corpora import data_root
from allears.corpora.heads import Head
from allears.corpora.heads import head as head_named
from allears.corpora.plots import check_picture_path
from allears.errors import AllearsError
from allears.evaluation.understanding import PAST, evaluate_understanding
from allears.labels import ED_EMOTIONS, POLARITY_OF
from allears.models.reader.loading import ReadingModel, load_reading_model
from allears.runtime.runs import is_kind

app = typer.Typer(
    help="The papers' figures about understanding, on any model and corpus.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

GENERATOR = "generator"  # what its run's card calls it; asked without torch

SPLIT = typer.Option("valid", "--split", help="train, valid or test.")
ROOT = typer.Option(
    None,
    "--root",
    help="Folder of all corpora, one corpus's folder, or the very file. Default: $ALLEARS_DATA.",
    show_default=False,
)
PLOT = typer.Option(None, "--plot", help="Write the picture (.png, .svg or .pdf).", show_default=False)
DEVICE = typer.Option("cpu", "--device", help="cpu or cuda.")
JSON = typer.Option(False, "--json", help="Print one JSON object for machines instead of a table.")


@app.command("strategy-curve")
def strategy_curve(
    models: list[str] = typer.Argument(
        help="Readers' run folders, `fasttext`, or `frequency` (the strategies as often as in training)."
    ),
    *,
    corpus: str = typer.Option("esconv", "--corpus", help="A corpus with strategies, or a .jsonl file."),
    split: str = SPLIT,
    root: Path | None = ROOT,
    past: str = typer.Option(
        "gold", "--past", help="Past strategies: gold, or predicted by the model itself."
    ),
    plot: Path | None = PLOT,
    device: str = DEVICE,
    as_json: bool = JSON,
) -> None:
    """How often the true strategy is among the n likeliest, for every n (PAL, Figure 4).

    Example:

        allears analyse strategy-curve runs/reader fasttext frequency --plot strategies.png
    """
    from allears.evaluation.analyses.strategy_curve import save_curve_picture, top_n_curve

    _check(plot)
    if past not in PAST:
        raise AllearsError(f"--past takes {' or '.join(PAST)}; got {past!r}")
    head = head_named("strategy")
    loaded = {name: _strategy_model(name, head, root, corpus, device) for name in dict.fromkeys(models)}
    readings = head.read(split, root, corpus=corpus)
    curves = {
        name: top_n_curve(evaluate_understanding(model, head, readings, past=past, watch=watched))
        for name, model in loaded.items()
    }
    title = f"strategy on {corpus} {split}, {past} past strategies"
    if plot is not None:
        save_curve_picture({short_name(name): curve for name, curve in curves.items()}, title, plot)
    if as_json:
        numbers = {
            name: {f"top_{n}": value for n, value in enumerate(curve, 1)} for name, curve in curves.items()
        }
        _print({"corpus": corpus, "split": split, "past": past, "examples": len(readings), "models": numbers})
        return
    table = empty_table(f"{title} (%), {len(readings):,} turns", "model")
    for n in range(1, len(head.labels)):
        table.add_column(f"top-{n}", justify="right", no_wrap=True)
    for name, curve in curves.items():
        table.add_row(short_name(name), *(f"{value:.1f}" for value in curve[:-1]))
    console.print(table)


@app.command("persona-empathy")
def persona_empathy(
    encoder: str = typer.Option(
        "thenlper/gte-small",
        "--encoder",
        help="A sentence encoder (hub name, folder or bundle), or a file of word vectors (PAL, Figure 5).",
    ),
    *,
    corpus: str = typer.Option(
        "pesconv", "--corpus", help="A corpus with the seeker's persona and survey scores, or a .jsonl file."
    ),
    split: str = SPLIT,
    root: Path | None = ROOT,
    plot: Path | None = PLOT,
    device: str = DEVICE,
    as_json: bool = JSON,
) -> None:
    """Similarity of replies to the seeker's persona against the seeker's marks (PAL, Figures 3 and 5).

    Examples:

        allears analyse persona-empathy --plot persona.png

        allears analyse persona-empathy --encoder glove.6B.100d.txt.gz --corpus pesconv.jsonl --split train
    """
    from allears.evaluation.analyses.persona_empathy import relations, save_relations_picture
    from allears.models.reader.sentence_loading import load_sentence_encoder

    _check(plot)
    talks = list(corpus_named(corpus).read(split, data_root(root)))
    found = relations(talks, load_sentence_encoder(encoder, device))
    title = f"{corpus} {split}: replies and persona, by {short_name(encoder)}"
    if plot is not None:
        save_relations_picture(found, title, plot)
    if as_json:
        record: dict[str, Any] = {"corpus": corpus, "split": split, "encoder": encoder}
        for aspect, relation in found.items():
            record |= relation.flat()
            record[f"{aspect}_means"] = {f"{score:g}": mean for score, (mean, _, _) in relation.means.items()}
        _print(record)
        return
    groups = empty_table(title, "aspect")
    lines = empty_table("trend", "aspect")
    for table, headings in (
        (groups, ("score", "similarity", "SEM", "n")),
        (lines, ("slope", "R² of means", "R² of talks", "n")),
    ):
        for heading in headings:
            table.add_column(heading, justify="right", no_wrap=True)
    for aspect, relation in found.items():
        slope, _, r2 = relation.trend
        for score, (mean, error, count) in relation.means.items():
            groups.add_row(aspect, f"{score:g}", f"{mean:.4f}", f"{error:.4f}", f"{count:,}")
        lines.add_row(aspect, f"{slope:+.4f}", f"{r2:.2f}", f"{relation.r2:.3f}", f"{len(relation.scores):,}")
    console.print(groups)
    console.print(lines)


@app.command("emotion-map")
def emotion_map(
    model: str | None = typer.Argument(
        None,
        help="A reader's run folder, or `fasttext`: the vectors of its 32 outputs; a generator's: of its emotions. "
        "Without it, --encoder.",
        show_default=False,
    ),
    *,
    encoder: str | None = typer.Option(
        None,
        "--encoder",
        help="Instead of a model: the mean sentence vectors of each emotion's descriptions under this encoder.",
        show_default=False,
    ),
    head: str = typer.Option("ed-emotion", "--head", help="ed-emotion or ed-emotion-turns."),
    split: str = SPLIT,
    root: Path | None = ROOT,
    plot: Path | None = PLOT,
    device: str = DEVICE,
    as_json: bool = JSON,
) -> None:
    """The 32 emotions in the plane of their two principal components (MIME, Figure 3).

    Examples:

        allears analyse emotion-map fasttext --plot emotions.png

        allears analyse emotion-map runs/ed-mime --plot emotions.png

        allears analyse emotion-map --encoder thenlper/gte-small --plot emotions.png
    """
    from allears.evaluation.analyses.emotion_map import (
        classifier_vectors,
        emotion_map,
        mean_vectors,
        save_map_picture,
    )

    _check(plot)
    chosen = head_named(head)
    if chosen.labels != ED_EMOTIONS:
        raise AllearsError(
            f"the map is of the 32 emotions of EmpatheticDialogues; the head {head} gives others"
        )
    if (model is None) == (encoder is None):
        raise AllearsError("name either a model (a reader's run folder, or fasttext) or an --encoder")
    if model is not None and is_kind(model, GENERATOR):
        from allears.evaluation.emotion_vectors import emotion_vectors
        from allears.models.generation.loading import load_generator

        vectors = emotion_vectors(load_generator(model, device))
    elif model is not None:
        vectors = classifier_vectors(load_reading_model(model, chosen, root, device=device), chosen)
    else:
        from allears.models.reader.sentence_loading import load_sentence_encoder

        vectors = mean_vectors(load_sentence_encoder(str(encoder), device), chosen.read(split, root))
    found = emotion_map(vectors)
    name = model or str(encoder)
    if plot is not None:
        save_map_picture(found, f"32 emotions: {short_name(name)}", plot)
    if as_json:
        _print({"model" if model else "encoder": name, "head": head} | found.flat())
        return
    table = empty_table(f"32 emotions in a plane: {short_name(name)}", "emotion")
    for heading in ("polarity", "first", "second"):
        table.add_column(heading, justify="right")
    for emotion, (first, second) in zip(ED_EMOTIONS, found.points, strict=True):
        table.add_row(emotion, POLARITY_OF[emotion], f"{first:.3f}", f"{second:.3f}")
    console.print(table)
    console.print(
        f"the plane shows {found.explained:.1f}% of the variance; the nearest emotion has the same polarity for "
        f"{found.neighbours:.1f}% of the emotions ({found.neighbours_in_plane:.1f}% in the plane)",
        highlight=False,
    )


@app.command("listeners")
def listeners(
    model: str = typer.Argument(help="The run folder of a MoEL or ModMoEL."),
    *,
    corpus: str = typer.Option("ed", "--corpus", help="A corpus with emotions, or a .jsonl file."),
    split: str = SPLIT,
    root: Path | None = ROOT,
    each: int = typer.Option(10, "--each", min=1, help="Examples of every emotion."),
    plot: Path | None = PLOT,
    device: str = DEVICE,
    as_json: bool = JSON,
) -> None:
    """Whether MoEL's listeners have specialised: how well each, alone, answers every emotion.

    Example:

        allears analyse listeners runs/ed-moel --plot listeners.png
    """
    _check(plot)
    from allears.models.generation.examples import read_examples
    from allears.models.generation.loading import load_generator

    generator = load_generator(model, device)
    from allears.evaluation.moel_listeners import listeners as listen  # needs torch, which a run needs too
    from allears.evaluation.moel_listeners import save_listeners_picture

    found = listen(generator, read_examples(corpus, split, root), each=each, watch=watched)
    title = f"listeners of {short_name(model)} on {corpus} {split}"
    if plot is not None:
        save_listeners_picture(found, title, plot)
    numbers = found.flat()
    if as_json:
        _print({"model": model, "corpus": corpus, "split": split} | numbers)
        return
    table = empty_table(title, "what was felt")
    table.add_column("its listener's gain, nats per token", justify="right")
    for name, gain in numbers["gain"].items():
        table.add_row(name, f"{gain:+.4f}")
    console.print(table)
    console.print(
        f"an emotion's own listener is the best of {len(found.labels)} for {numbers['own_listener_best']:.0f}% of "
        f"them (mean rank {numbers['own_listener_rank']:.1f}) and gets {numbers['own_attention']:.0f}% of the "
        f"attention; the outputs differ by {numbers['outputs_apart']:.2f} of their size",
        highlight=False,
    )


def _strategy_model(name: str, head: Head, root: Path | None, corpus: str, device: str) -> ReadingModel:
    from allears.evaluation.analyses.strategy_curve import FREQUENCY, FrequencyModel

    if name == FREQUENCY:
        return FrequencyModel(head, head.read("train", root, corpus=corpus))
    return load_reading_model(name, head, root, corpus=corpus, device=device)


def _check(plot: Path | None) -> None:
    if plot is not None:
        check_picture_path(plot)


def _print(record: dict[str, Any]) -> None:
    typer.echo(json.dumps(record))
