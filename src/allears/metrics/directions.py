"""Vectors without their lengths: the dot product of two is their cosine."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def directions(vectors: npt.ArrayLike, expected: str = "vectors [texts, size]") -> npt.NDArray[np.float64]:
    """The rows at length 1; a row of zeros stays what it is. `expected` is told where these are no rows."""
    rows = np.asarray(vectors, np.float64)
    if rows.ndim != 2:
        raise ValueError(f"expected {expected}, got an array of shape {rows.shape}")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), np.float64)
