"""`allears analyse`: the papers' figures about what is understood, on any model and corpus."""

from __future__ import annotations

from typing import Any

import typer

from allears.cli import options
from allears.cli.options import optional, value
from allears.cli.output import console, plain_table, print_json
from allears.cli.progress import watched
from allears.corpora import corpus as corpus_named
from allears.corpora import data_root
from allears.corpora.plots import check_picture_path
from allears.evaluation.names import short_name
from allears.evaluation.setting import EvaluationSetting
from allears.labels import ED_EMOTIONS, POLARITY_OF

app = typer.Typer(
    help="The papers' figures about understanding, on any model and corpus.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@app.command("strategy-curve")
def strategy_curve(
    models: list[str] = typer.Argument(
        help="Readers' run folders, `fasttext`, or `frequency` (the strategies as often as in training)."
    ),
    *,
    corpus: str = value("esconv", "A corpus with strategies, or a .jsonl file."),
    split: options.Split = "valid",
    root: options.Root = None,
    past: str = value("gold", "Past strategies: gold, or predicted by the model itself."),
    plot: options.Plot = None,
    device: options.Device = "cpu",
    as_json: options.JsonTable = False,
) -> None:
    """How often the true strategy is among the n likeliest, for every n (PAL, Figure 4).

    Example:

        allears analyse strategy-curve runs/reader fasttext frequency --plot strategies.png
    """
    from allears.evaluation.analyses.strategy_curve import save_curve_picture, strategy_curves

    if plot is not None:
        check_picture_path(plot)
    setting = EvaluationSetting(split, root, device=device, watch=watched)
    result = strategy_curves(models, corpus, setting, past=past)
    title = f"strategy on {corpus} {split}, {past} past strategies"
    if plot is not None:
        save_curve_picture({short_name(name): curve for name, curve in result.curves.items()}, title, plot)
    if as_json:
        numbers = {
            name: {f"top_{n}": share for n, share in enumerate(curve, 1)}
            for name, curve in result.curves.items()
        }
        record = {"corpus": corpus, "split": split, "past": past, "examples": result.examples}
        print_json(record | {"models": numbers})
        return
    headings = [f"top-{n}" for n in range(1, len(result.head.labels))]
    table = plain_table(f"{title} (%), {result.examples:,} turns", "model", numbers=headings)
    for name, curve in result.curves.items():
        table.add_row(short_name(name), *(f"{share:.1f}" for share in curve[:-1]))
    console.print(table)


@app.command("persona-empathy")
def persona_empathy(
    encoder: str = value(
        "thenlper/gte-small",
        "A sentence encoder (hub name, folder or bundle), or a file of word vectors (PAL, Figure 5).",
    ),
    *,
    corpus: str = value("pesconv", "A corpus with the seeker's persona and survey scores, or a .jsonl file."),
    split: options.Split = "valid",
    root: options.Root = None,
    plot: options.Plot = None,
    device: options.Device = "cpu",
    as_json: options.JsonTable = False,
) -> None:
    """Similarity of replies to the seeker's persona against the seeker's marks (PAL, Figures 3 and 5).

    Examples:

        allears analyse persona-empathy --plot persona.png

        allears analyse persona-empathy --encoder glove.6B.100d.txt.gz --corpus pesconv.jsonl --split train
    """
    from allears.evaluation.analyses.persona_empathy import relations, save_relations_picture
    from allears.models.reader.sentence_loading import load_sentence_encoder

    if plot is not None:
        check_picture_path(plot)
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
        print_json(record)
        return
    groups = plain_table(title, "aspect", numbers=("score", "similarity", "SEM", "n"))
    lines = plain_table("trend", "aspect", numbers=("slope", "R² of means", "R² of talks", "n"))
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
    encoder: str | None = optional(
        "Instead of a model: the mean sentence vectors of each emotion's descriptions under this encoder."
    ),
    head: str = value("ed-emotion", "ed-emotion or ed-emotion-turns."),
    split: options.Split = "valid",
    root: options.Root = None,
    plot: options.Plot = None,
    device: options.Device = "cpu",
    as_json: options.JsonTable = False,
) -> None:
    """The 32 emotions in the plane of their two principal components (MIME, Figure 3).

    Examples:

        allears analyse emotion-map fasttext --plot emotions.png

        allears analyse emotion-map runs/ed-mime --plot emotions.png

        allears analyse emotion-map --encoder thenlper/gte-small --plot emotions.png
    """
    from allears.evaluation.analyses.emotion_map import emotion_map, load_vectors, save_map_picture

    if plot is not None:
        check_picture_path(plot)
    found = emotion_map(load_vectors(model, encoder, head=head, split=split, root=root, device=device))
    name = model or str(encoder)
    if plot is not None:
        save_map_picture(found, f"32 emotions: {short_name(name)}", plot)
    if as_json:
        print_json({"model" if model else "encoder": name, "head": head} | found.flat())
        return
    table = plain_table(f"32 emotions in a plane: {short_name(name)}", "emotion")
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
    corpus: str = value("ed", "A corpus with emotions, or a .jsonl file."),
    split: options.Split = "valid",
    root: options.Root = None,
    each: int = value(10, "Examples of every emotion.", min=1),
    plot: options.Plot = None,
    device: options.Device = "cpu",
    as_json: options.JsonTable = False,
) -> None:
    """Whether MoEL's listeners have specialised: how well each, alone, answers every emotion.

    Example:

        allears analyse listeners runs/ed-moel --plot listeners.png
    """
    if plot is not None:
        check_picture_path(plot)
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
        print_json({"model": model, "corpus": corpus, "split": split} | numbers)
        return
    table = plain_table(title, "what was felt")
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
