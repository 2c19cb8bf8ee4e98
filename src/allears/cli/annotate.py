"""`allears annotate`: give a corpus the labels it lacks."""

from __future__ import annotations

import hashlib
from itertools import islice
from pathlib import Path

import typer

from allears import __version__
from allears.cli.output import errors
from allears.cli.progress import watched
from allears.corpora import Corpus, corpus, data_root
from allears.corpora.check import splits_here
from allears.corpora.heads import head as head_named
from allears.errors import AllearsError
from allears.evaluation.annotate import (
    ADDITIONS,
    EMOTION_HEADS,
    AddAct,
    AddEmotion,
    AddIntent,
    Addition,
    AddMechanisms,
    AddPersona,
    mechanism_head,
)
from allears.evaluation.annotation_file import annotate_to, check_annotation_path
from allears.labels import MECHANISMS
from allears.models.reader.loading import load_reading_model
from allears.runtime.bundle import DEFAULT, default_bundle


def annotate(
    name: str = typer.Argument(
        help="A corpus (see `allears data list`) or a .jsonl file in our schema.", metavar="CORPUS"
    ),
    *,
    add: str = typer.Option(
        ..., "--add", help="persona, emotion, intent, mechanisms or act.", show_default=False
    ),
    out: Path = typer.Option(..., "--out", help="The .jsonl file to write.", show_default=False),
    split: str | None = typer.Option(
        None, "--split", help="train, valid or test. Default: the first that is here.", show_default=False
    ),
    model: str = typer.Option(
        "default",
        "--model",
        help="For persona an extractor's run folder; otherwise a reader's, a bundle, or `fasttext` (fitted first).",
    ),
    head: str = typer.Option(
        EMOTION_HEADS[0], "--head", help=f"For emotion: {', '.join(EMOTION_HEADS)}.", show_default=True
    ),
    encoder: str | None = typer.Option(
        None,
        "--encoder",
        help="For persona: also join sentences alike by this sentence encoder.",
        show_default=False,
    ),
    replace: bool = typer.Option(False, "--replace", help="Write over what a conversation has already."),
    limit: int | None = typer.Option(
        None, "--limit", min=1, help="Only the first N conversations.", show_default=False
    ),
    root: Path | None = typer.Option(
        None,
        "--root",
        help="Folder of all corpora, one corpus's folder, or the very file. Default: $ALLEARS_DATA.",
        show_default=False,
    ),
    device: str = typer.Option("cpu", "--device", help="cpu or cuda."),
) -> None:
    """Write a split with one thing more: who the seeker is, what they feel, what the supporter does.

    The file is in our schema, and every command reads it. A run that was killed goes on where it stopped when the
    same command is given again.

    Examples:

        allears annotate esconv --split train --add persona --model runs/persona-extractor --out pesconv.jsonl

        allears annotate pec --split train --add emotion --model fasttext --out pec-emotions.jsonl

        allears annotate pec-emotions.jsonl --add mechanisms --model runs/reader --out pec-more.jsonl
    """
    # Whatever can be wrong is found before the long part begins.
    if add not in ADDITIONS:
        raise AllearsError(f"--add takes {', '.join(ADDITIONS)}; got {add!r}")
    check_annotation_path(out)
    reader, place = corpus(name), data_root(root)
    split = split or _first_split(reader, place)
    stream = reader.read(split, place)
    # A baseline is fitted on corpora of its own, which are not in the very file that is annotated
    training = None if root is not None and root.is_file() else root
    addition = _addition(add, model, head, encoder, replace, training, device)
    settings = {
        "corpus": name, "split": split, "add": add, "model": model, "model_digest": _digest(model),
        "head": head if add == "emotion" else None, "encoder": encoder, "replace": replace, "limit": limit,
        "allears": __version__,
    }  # fmt: skip
    total = reader.info.counts.get(split)
    if limit is not None:
        stream, total = islice(stream, limit), limit
    done = annotate_to(out, watched(stream, f"adding {add}", total), addition, settings)
    again = f", {done.resumed:,} of them from an earlier run" if done.resumed else ""
    _say(f"wrote {done.conversations:,} conversations to {out}{again}")


def _addition(
    add: str, model: str, head: str, encoder: str | None, replace: bool, root: Path | None, device: str
) -> Addition:
    if encoder is not None and add != "persona":
        raise AllearsError(f"--encoder joins persona sentences; leave it out with --add {add}")
    if add == "persona":
        from allears.models.extractor.loading import load_extractor
        from allears.models.reader.sentence_encoder import similarity_by
        from allears.models.reader.sentence_loading import load_sentence_encoder

        similarity = None if encoder is None else similarity_by(load_sentence_encoder(encoder, device))
        return AddPersona(load_extractor(model, device), model, similarity=similarity, replace_old=replace)
    if add == "emotion":
        if head not in EMOTION_HEADS:
            raise AllearsError(f"--head takes {', '.join(EMOTION_HEADS)}; got {head!r}")
        reader = load_reading_model(model, head_named(head), root, device=device)
        return AddEmotion(reader, model, head=head, replace_old=replace)
    if add == "intent":
        reader = load_reading_model(model, head_named("intent"), root, device=device)
        return AddIntent(reader, model, replace_old=replace)
    if add == "act":
        reader = load_reading_model(model, head_named("dailydialog-act"), root, device=device)
        return AddAct(reader, model, replace_old=replace)
    # fastText learns one head at a time, a reader has all of them: loading it once is enough.
    one = (
        None
        if model == "fasttext"
        else load_reading_model(model, head_named(mechanism_head(MECHANISMS[0])), root, device=device)
    )
    models = {
        name: one or load_reading_model(model, head_named(mechanism_head(name)), root, device=device)
        for name in MECHANISMS
    }
    return AddMechanisms(models, model, replace_old=replace)


def _first_split(reader: Corpus, place: Path) -> str:
    here = splits_here(reader, place)
    if here:
        return here[0]
    if not reader.info.page:  # a user's own file: its reader knows best what is missing
        next(reader.read(reader.info.splits[0], place), None)
    raise AllearsError(
        f"{reader.info.title} is not under {place}; get it with: allears data download {reader.info.name}"
    )


def _digest(model: str) -> str | None:
    """Of a run's weights, or of a bundle's card: another training under the same name is another model."""
    folder = default_bundle() if model == DEFAULT else Path(model)
    for name in ("best/model.safetensors", "model.safetensors", "bundle.json"):
        path = folder / name
        if path.is_file():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    return None


def _say(text: str) -> None:
    """To the person, not to the pipe."""
    errors.print(text, highlight=False, markup=False, soft_wrap=True)
