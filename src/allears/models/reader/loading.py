"""One way to open whatever can answer a head: a trained reader, a bundle, or a baseline that is fitted on the spot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from allears.corpora.heads import Head
from allears.errors import AllearsError
from allears.labels import POLARITIES
from allears.models.runs import load_run
from allears.runtime.bundle import folder_of
from allears.runtime.classifier import Classifier, Probabilities
from allears.text.reading import Reading

DEFAULT, FASTTEXT, VADER = "default", "fasttext", "vader"
# A long post's words share one step of learning, so posts need larger and more steps than single sentences.
_FASTTEXT_SETTINGS: dict[str, dict[str, Any]] = {"topic": {"epochs": 25, "learning_rate": 1.0}}


class ReadingModel(Protocol):
    """Anything that can say how likely a head's labels are."""

    def probabilities(self, head: Head, readings: Sequence[Reading]) -> Probabilities: ...


@runtime_checkable
class PointingModel(Protocol):
    """One that can also say where, for some heads."""

    def points(self, head: Head) -> bool: ...

    def rationale_scores(self, head: Head, readings: Sequence[Reading]) -> npt.NDArray[np.float64]: ...

    def has_rationale(self, readings: Sequence[Reading]) -> npt.NDArray[np.bool_]: ...


class ClassifierModel:
    """A classifier of texts as a model of readings: turns are joined into one text."""

    def __init__(self, classifier: Classifier):
        self.classifier = classifier

    def probabilities(self, head: Head, readings: Sequence[Reading]) -> Probabilities:
        return self.classifier.predict_proba([reading.text for reading in readings])


def load_reading_model(
    name: str | Path,
    head: Head,
    root: Path | str | None = None,
    *,
    corpus: str | Path | None = None,
    device: str = "cpu",
) -> ReadingModel:
    """`default`, a bundle folder (ONNX), a reader's run folder (torch), `fasttext` or `vader`.

    fastText is fitted on the train split now; VADER is for ed-polarity only.
    """
    if str(name) == FASTTEXT:
        return fit_fasttext(head, root, corpus=corpus)
    if str(name) == VADER:
        if head.labels != POLARITIES:
            raise AllearsError(f"VADER only tells positive from negative; the head {head.name} asks for more")
        from allears.models.reader.sentiment import VaderSentiment

        return ClassifierModel(VaderSentiment())
    folder = folder_of(name)
    if not folder.is_dir():
        raise AllearsError(
            f"{name}: no such model; give a reader's run folder, a bundle folder, 'default', or 'fasttext'"
        )
    if (folder / "bundle.json").is_file():
        return _load_bundle(folder, device)
    model: ReadingModel = load_run(
        folder, device, "allears.models.reader.saved", otherwise=", or name an exported bundle"
    )
    return model


def fit_fasttext(
    head: Head, root: Path | str | None = None, *, corpus: str | Path | None = None
) -> ClassifierModel:
    """The ED paper's baseline for any head, learned from its train split."""
    from allears.models.reader.fasttext_classifier import FastTextClassifier

    train = head.read("train", root, corpus=corpus)
    classifier = FastTextClassifier(
        labels=head.labels, multi_label=head.multi_label, **_FASTTEXT_SETTINGS.get(head.name, {})
    )
    return ClassifierModel(
        classifier.fit([reading.text for reading in train], [reading.labels for reading in train])
    )


def _load_bundle(folder: Path, device: str) -> ReadingModel:
    if device != "cpu":
        raise AllearsError(f"{folder}: an ONNX bundle runs on the CPU; leave out --device {device}")
    from allears.runtime.onnx_reader import OnnxReader

    return OnnxReader.from_bundle(folder)
