"""What a reply has of the person it is for, and how much lighter than their words it sounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from allears.metrics.directions import directions


def cos_sim(replies: npt.ArrayLike, personas: Sequence[npt.ArrayLike]) -> float:
    """The mean cosine between a reply and the persona sentences it was written for, from -1 to 1 (PAL's Cos-Sim).

    `replies` [N, d]; for each, the vectors [m, d] of its persona's sentences. First the mean over one persona's
    sentences, then over the replies; a reply without a persona does not count. All vectors by the same encoder.
    """
    vectors = directions(replies)
    if len(vectors) != len(personas):
        raise ValueError(f"every reply has a persona, maybe empty: got {len(vectors)} and {len(personas)}")
    found = [
        float((directions(sentences) @ reply).mean())
        for reply, sentences in zip(vectors, personas, strict=True)
        if len(np.asarray(sentences))
    ]
    if not found:
        raise ValueError("no reply has a persona, so there is nothing to be similar to")
    return float(np.mean(found))


def sentiment_gain(replies: npt.ArrayLike, sources: npt.ArrayLike) -> float:
    """The mean of a reply's sentiment less that of what it answers; with VADER's compound from -2 to 2."""
    after, before = np.asarray(replies, np.float64), np.asarray(sources, np.float64)
    if after.shape != before.shape or after.ndim != 1 or not len(after):
        raise ValueError(f"every reply answers something: got sentiments {after.shape} and {before.shape}")
    return float((after - before).mean())
