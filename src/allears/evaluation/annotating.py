"""A corpus by its name, annotated by models by theirs: what `allears annotate` does."""

from __future__ import annotations

import hashlib
from itertools import islice
from pathlib import Path

from allears import __version__
from allears.corpora import corpus, data_root
from allears.corpora.check import Watch, readable_splits, unwatched
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
from allears.evaluation.annotation_file import Annotated, annotate_to, check_annotation_path
from allears.labels import MECHANISMS
from allears.models.reader.loading import ReadingModel, load_reading_model
from allears.runtime.bundle import DEFAULT, default_bundle


def annotate_corpus(
    name: str,
    out: Path,
    *,
    add: str,
    split: str | None = None,
    model: str = DEFAULT,
    head: str = EMOTION_HEADS[0],
    encoder: str | None = None,
    replace: bool = False,
    limit: int | None = None,
    root: Path | None = None,
    device: str = "cpu",
    watch: Watch = unwatched,
) -> Annotated:
    """Write a split, the first that is here if none is named, with what `add` names."""
    # Whatever can be wrong is found before the long part begins.
    if add not in ADDITIONS:
        raise AllearsError(f"--add takes {', '.join(ADDITIONS)}; got {add!r}")
    check_annotation_path(out)
    reader, folder = corpus(name), data_root(root)
    split = split or readable_splits(reader, folder)[0]
    stream = reader.read(split, folder)
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
    return annotate_to(out, watch(stream, f"adding {add}", total), addition, settings)


def _addition(
    add: str, model: str, head: str, encoder: str | None, replace: bool, root: Path | None, device: str
) -> Addition:
    def reader(name: str) -> ReadingModel:
        return load_reading_model(model, head_named(name), root, device=device)

    if encoder is not None and add != "persona":
        raise AllearsError(f"--encoder joins persona sentences; leave it out with --add {add}")
    if add == "persona":
        from allears.models.extractor.loading import load_extractor
        from allears.models.reader.sentence_loading import load_similarity

        similarity = load_similarity(encoder, device)
        return AddPersona(load_extractor(model, device), model, similarity=similarity, replace_old=replace)
    if add == "emotion":
        if head not in EMOTION_HEADS:
            raise AllearsError(f"--head takes {', '.join(EMOTION_HEADS)}; got {head!r}")
        return AddEmotion(reader(head), model, head=head, replace_old=replace)
    if add == "intent":
        return AddIntent(reader("intent"), model, replace_old=replace)
    if add == "act":
        return AddAct(reader("dailydialog-act"), model, replace_old=replace)
    # fastText learns one head at a time, a reader has all of them: loading it once is enough.
    one = None if model == "fasttext" else reader(mechanism_head(MECHANISMS[0]))
    models = {name: one or reader(mechanism_head(name)) for name in MECHANISMS}
    return AddMechanisms(models, model, replace_old=replace)


def _digest(model: str) -> str | None:
    """Of a run's weights, or of a bundle's card: another training under the same name is another model."""
    folder = default_bundle() if model == DEFAULT else Path(model)
    for name in ("best/model.safetensors", "model.safetensors", "bundle.json"):
        path = folder / name
        if path.is_file():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    return None
