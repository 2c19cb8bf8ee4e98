"""MIME, Figure 3: the 32 emotions in a plane, positive and negative ones in their colours.

An emotion's vector is what a trained classifier compares a text with (a reader's or fastText's output row), or, for an
encoder that never learned emotions, the mean vector of the descriptions with that emotion. The plane is that of the two
principal components.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from allears.corpora.heads import Head
from allears.corpora.heads import head as head_named
from allears.corpora.plots import GRID, QUIET, SEEKER, SUPPORTER, check_picture_path
from allears.errors import AllearsError
from allears.evaluation.emotion_vectors import emotion_vectors
from allears.evaluation.picture import picture, picture_style, write_picture
from allears.labels import ED_EMOTIONS, POLARITY_OF
from allears.models.reader.loading import ClassifierModel, ReadingModel, load_reading_model
from allears.models.reader.sentence_encoder import SentenceEncoder
from allears.runtime.runs import is_kind
from allears.text.reading import Reading

Values = npt.NDArray[np.float64]
GENERATOR = "generator"  # what its run's card calls it; asked without torch
_COLOURS = {"positive": SUPPORTER, "negative": SEEKER}


@dataclass(frozen=True, slots=True)
class EmotionMap:
    """Where each emotion lies, and how well the two polarities keep apart."""

    points: Values  # [emotions, 2], in the order of ED_EMOTIONS
    explained: float  # percent of the vectors' variance that the plane shows
    neighbours: (
        float  # percent of emotions whose nearest other emotion has the same polarity, among all dimensions
    )
    neighbours_in_plane: float

    def flat(self) -> dict[str, Any]:
        """Names and numbers as `--json` prints them."""
        return {
            "explained": self.explained,
            "same_polarity_neighbours": self.neighbours,
            "same_polarity_neighbours_in_plane": self.neighbours_in_plane,
            "points": {
                name: [float(x), float(y)] for name, (x, y) in zip(ED_EMOTIONS, self.points, strict=True)
            },
        }


def emotion_map(vectors: npt.ArrayLike) -> EmotionMap:
    """The map of 32 vectors [emotions, d], in the order of ED_EMOTIONS."""
    rows = np.asarray(vectors, np.float64)
    if rows.ndim != 2 or len(rows) != len(ED_EMOTIONS) or rows.shape[1] < 2:
        raise ValueError(f"expected a vector for each of {len(ED_EMOTIONS)} emotions, got {rows.shape}")
    centred = rows - rows.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    points = left[:, :2] * sizes[:2]
    points = points * _upright(points)
    return EmotionMap(
        points,
        100.0 * float((sizes[:2] ** 2).sum() / (sizes**2).sum()),
        _same_polarity(_cosines(centred)),
        _same_polarity(-np.linalg.norm(points[:, None] - points[None], axis=-1)),
    )


def load_vectors(
    model: str | None,
    encoder: str | None,
    *,
    head: str,
    split: str = "valid",
    root: Path | None = None,
    device: str = "cpu",
) -> Values:
    """The emotions' vectors of a reader or a generator by its name, or under a sentence encoder."""
    chosen = head_named(head)
    if chosen.labels != ED_EMOTIONS:
        raise AllearsError(
            f"the map is of the 32 emotions of EmpatheticDialogues; the head {head} gives others"
        )
    if (model is None) == (encoder is None):
        raise AllearsError("name either a model (a reader's run folder, or fasttext) or an --encoder")
    if model is None:
        from allears.models.reader.sentence_loading import load_sentence_encoder

        return mean_vectors(load_sentence_encoder(str(encoder), device), chosen.read(split, root))
    if is_kind(model, GENERATOR):
        from allears.models.generation.loading import load_generator

        return emotion_vectors(load_generator(model, device))
    return classifier_vectors(load_reading_model(model, chosen, root, device=device), chosen)


def classifier_vectors(model: ReadingModel, head: Head) -> Values:
    """A trained model's own vector of every emotion: the rows of its last layer."""
    if isinstance(model, ClassifierModel):
        return _fasttext_rows(model)
    from allears.runtime.onnx_reader import OnnxReader

    if isinstance(model, OnnxReader):  # its heads are inside a graph, and there may be no torch to ask
        raise AllearsError(
            "a bundle does not show its labels' vectors; give a reader's run folder, or fasttext"
        )
    from allears.models.reader.saved import TorchReader  # loaded already, if this is one

    if not isinstance(model, TorchReader):
        raise AllearsError("this model has no vectors of its labels; give a reader's run folder, or fasttext")
    if head.name not in model.card.heads:
        raise AllearsError(
            f"this reader was not trained for the head {head.name}; it has {', '.join(model.card.heads)}"
        )
    last: Any = model.model.heads[head.name]
    return np.asarray(last[-1].weight.detach().float().cpu().numpy(), np.float64)


def _fasttext_rows(model: ClassifierModel) -> Values:
    from allears.models.reader.fasttext_classifier import FastTextClassifier

    if not isinstance(model.classifier, FastTextClassifier):
        raise AllearsError("this model has no vectors of its labels; give a reader's run folder, or fasttext")
    fitted = model.classifier.model_
    rows = np.asarray(fitted.get_output_matrix(), np.float64)
    # fastText keeps labels by frequency, under the number that stands for them
    order = [int(label.rpartition("_")[2]) for label in fitted.get_labels()]
    return rows[np.argsort(order)]


def mean_vectors(encoder: SentenceEncoder, readings: Sequence[Reading]) -> Values:
    """The mean vector of each emotion's descriptions."""
    vectors = encoder.vectors([reading.text for reading in readings])
    labels = np.array([reading.label for reading in readings])
    missing = [emotion for emotion in ED_EMOTIONS if not (labels == emotion).any()]
    if missing:
        raise AllearsError(f"no description here has the emotion {missing[0]!r}; give a larger split")
    return np.stack([vectors[labels == emotion].mean(axis=0) for emotion in ED_EMOTIONS])


def save_map_picture(found: EmotionMap, title: str, path: Path) -> None:
    check_picture_path(path)
    with picture_style():
        figure = picture(8.4, 6.6)
        figure.suptitle(title, fontsize=12.5, fontweight="bold", x=0.01, ha="left")
        axes = figure.subplots()
        for polarity, colour in _COLOURS.items():
            rows = [row for row, emotion in enumerate(ED_EMOTIONS) if POLARITY_OF[emotion] == polarity]
            across, along = found.points[rows].T
            axes.scatter(across, along, color=colour, s=26, label=f"{polarity} (MIME, Table 1)", zorder=3)
        places = _label_places(found.points)
        for emotion, point, offset in zip(ED_EMOTIONS, found.points, places, strict=True):
            axes.annotate(
                emotion, point, xytext=offset, textcoords="offset points", fontsize=9,
                ha="left" if offset[0] > 0 else "right" if offset[0] < 0 else "center", va="center",
                color=_COLOURS[POLARITY_OF[emotion]],
            )  # fmt: skip
        axes.set_title(
            f"{found.explained:.0f}% of the variance · nearest emotion of the same polarity: "
            f"{found.neighbours:.0f}% in all dimensions, {found.neighbours_in_plane:.0f}% here",
            loc="left", fontsize=9, color=QUIET,
        )  # fmt: skip
        axes.margins(0.12, 0.08)
        axes.set(
            xlabel="first principal component", ylabel="second principal component", xticks=[], yticks=[]
        )
        axes.axhline(0, color=GRID, linewidth=0.8, zorder=0)
        axes.axvline(0, color=GRID, linewidth=0.8, zorder=0)
        axes.legend(frameon=False, loc="best")
        write_picture(figure, path)


def _upright(points: Values) -> Values:
    """Signs that put positive emotions to the right and "surprised" up: principal components have none."""
    positive = np.array([POLARITY_OF[emotion] == "positive" for emotion in ED_EMOTIONS])
    across = points[positive, 0].mean() - points[~positive, 0].mean()
    along = points[ED_EMOTIONS.index("surprised"), 1]
    return np.array([1.0 if across >= 0 else -1.0, 1.0 if along >= 0 else -1.0])


def _cosines(rows: Values) -> Values:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units = rows / np.where(lengths == 0, 1, lengths)
    return np.asarray(units @ units.T)


def _same_polarity(closeness: Values) -> float:
    """Percent of emotions whose closest other one has their polarity."""
    others = closeness.copy()
    np.fill_diagonal(others, -np.inf)
    polarity = np.array([POLARITY_OF[emotion] for emotion in ED_EMOTIONS])
    return 100.0 * float((polarity[others.argmax(axis=1)] == polarity).mean())


def _label_places(points: Values) -> list[tuple[float, float]]:
    """Where each name goes, in points from its dot: the side on which it covers least of what is there already.

    Names are taken from the picture's middle outwards; sizes are those of an 8.4 by 6.6 inch figure.
    """
    spread = np.ptp(points, axis=0)
    dots = (points - points.min(axis=0)) / np.where(spread == 0, 1, spread) * (430.0, 360.0)
    boxes: list[tuple[float, float, float, float]] = [(x - 4, y - 4, x + 4, y + 4) for x, y in dots]
    found: dict[int, tuple[float, float]] = {}
    for row in np.argsort(np.linalg.norm(points, axis=1), kind="stable").tolist():
        width = 5.2 * len(ED_EMOTIONS[row])
        best = min(
            (
                (7.0, 0.0),
                (-7.0, 0.0),
                (0.0, 10.0),
                (0.0, -10.0),
                (7.0, 9.0),
                (7.0, -9.0),
                (-7.0, 9.0),
                (-7.0, -9.0),
            ),
            key=lambda offset: _covered(_box(dots[row], offset, width), boxes),
        )
        boxes.append(_box(dots[row], best, width))
        found[row] = best
    return [found[row] for row in range(len(points))]


def _box(dot: Values, offset: tuple[float, float], width: float) -> tuple[float, float, float, float]:
    x, y = dot[0] + offset[0], dot[1] + offset[1]
    left = x if offset[0] > 0 else x - width if offset[0] < 0 else x - width / 2
    return left, y - 5, left + width, y + 5


def _covered(
    box: tuple[float, float, float, float], others: list[tuple[float, float, float, float]]
) -> float:
    area = 0.0
    for other in others:
        wide = min(box[2], other[2]) - max(box[0], other[0])
        high = min(box[3], other[3]) - max(box[1], other[1])
        area += max(0.0, wide) * max(0.0, high)
    return area
