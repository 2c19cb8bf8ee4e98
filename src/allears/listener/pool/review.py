"""A look at a pool before anybody is answered from it: how empathetic its replies are, and how much they repeat.

The reader's three EPITOME heads judge every reply as the answer to somebody who names one of its emotions. A reply in
which they find nothing is not wrong by itself (an ending, a suggestion), but a reflection of feelings that shows
neither warmth nor understanding is worth reading again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allears.conversation import Role, Turn
from allears.listener.pool import ANY, Line
from allears.metrics.diversity import distinct_n, repetition_rate
from allears.progress import Watch, unwatched
from allears.runtime.onnx_reader import OnnxReader
from allears.runtime.onnx_selector import OnnxSelector
from allears.text.reading import Reading
from allears.text.tokenizer import words

MECHANISMS = ("emotional-reactions", "interpretations", "explorations")
# which mechanisms a strategy is there for; others may show any, or none
EXPECTED = {
    "Question": ("explorations",),
    "Restatement or Paraphrasing": ("interpretations", "explorations"),
    "Reflection of feelings": ("emotional-reactions", "interpretations"),
    "Affirmation and Reassurance": ("emotional-reactions", "interpretations"),
}
AT_ONCE = 64
SAME = 0.97  # cosine: the same thing in nearly the same words
OPENING = 3  # words


@dataclass(frozen=True, slots=True)
class PoolReview:
    """`levels` [lines, 3]: the likeliest level (0, 1 or 2) of each mechanism. Shares are percentages."""

    lines: tuple[Line, ...]
    levels: npt.NDArray[np.int64]
    twins: tuple[tuple[str, str], ...]
    openings: tuple[tuple[str, int], ...]
    distinct_1: float
    distinct_2: float
    repetition: float

    def shown(self, mechanism: str, strategy: str | None = None) -> float:
        """Of how many replies (of a strategy) the mechanism is a part."""
        rows = [row for row, line in enumerate(self.lines) if strategy in (None, line.strategy)]
        levels = self.levels[rows, MECHANISMS.index(mechanism)]
        return 100 * float((levels > 0).mean()) if rows else 0.0

    def doubtful(self) -> list[Line]:
        """Replies in which nothing is found of what their strategy is there for."""
        return [
            line
            for line, levels in zip(self.lines, self.levels, strict=True)
            if line.strategy in EXPECTED
            and not any(levels[MECHANISMS.index(each)] for each in EXPECTED[line.strategy])
        ]


def review_pool(
    lines: Sequence[Line], selector: OnnxSelector, reader: OnnxReader, *, watch: Watch = unwatched
) -> PoolReview:
    for mechanism in MECHANISMS:
        reader.needs(f"epitome-{mechanism}")
    readings = [_reading(line) for line in lines]
    parts = range(0, len(readings), AT_ONCE)
    found = [_levels(reader, readings[start : start + AT_ONCE]) for start in watch(parts, "reading the pool")]
    texts = [line.text for line in lines]
    openings = Counter(" ".join(words(text)[:OPENING]) for text in texts)
    return PoolReview(
        tuple(lines),
        np.concatenate(found),
        tuple(_twins(texts, selector)),
        tuple(openings.most_common(10)),
        distinct_n(texts, 1),
        distinct_n(texts, 2),
        repetition_rate(["\n".join(texts)]),  # over the whole pool: it is one voice
    )


def _reading(line: Line) -> Reading:
    emotion = next((each for each in line.emotions if each != ANY), None)
    said = f"I feel {emotion} about what happened." if emotion else "I don't know what to think about it all."
    return Reading((Turn(Role.SEEKER, said), Turn(Role.SUPPORTER, line.text)))


def _levels(reader: OnnxReader, readings: Sequence[Reading]) -> npt.NDArray[np.int64]:
    answers = reader.answers(readings)
    return np.stack([answers[f"epitome-{mechanism}"].argmax(1) for mechanism in MECHANISMS], axis=1)


def _twins(texts: Sequence[str], selector: OnnxSelector) -> list[tuple[str, str]]:
    """Pairs that say the same; each reply with the nearest of those before it."""
    vectors = np.asarray(selector.encode_responses(texts).vectors, np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    close = np.tril(vectors @ vectors.T, -1)
    nearest = close.argmax(1)
    rows = np.flatnonzero(close[np.arange(len(texts)), nearest] > SAME)
    return [(texts[int(nearest[row])], texts[int(row)]) for row in rows]
