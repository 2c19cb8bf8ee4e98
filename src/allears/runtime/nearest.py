"""The first stage: the candidates whose vectors have the largest products with a query's.

*Exact* compares with all of them, in NumPy. *Approximate* walks an HNSW graph (FAISS), whose cost hardly
grows with the pool. The settings below were chosen by `benchmarks/index.py` for at least 98% of the exact
hundred nearest among 100,000 candidates.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError
from allears.progress import Watch, unwatched
from allears.runtime.selector import Indices

Floats = npt.NDArray[np.float32]

NEIGHBOURS = 32  # edges per candidate
BUILD_WIDTH = 200  # candidates looked at for each edge, while building
SEARCH_WIDTH = 512  # candidates kept in view while searching
ADD_AT_ONCE = 4096
SCORES_AT_ONCE = 2**24  # numbers held by an exact search
FEW = 4  # queries that are not worth BLAS' threads


def exact(vectors: npt.NDArray[Any], queries: Floats, count: int) -> tuple[Indices, Floats]:
    """Positions and scores [B, count], best first; of equal scores, the first in the pool."""
    count = min(count, len(vectors))
    positions, scores = np.empty((len(queries), count), np.int64), np.empty((len(queries), count), np.float32)
    step = max(1, SCORES_AT_ONCE // len(vectors))
    for start in range(0, len(queries), step):
        for row, found in enumerate(products(queries[start : start + step], vectors), start):
            best = np.argpartition(-found, count - 1)[:count] if count < len(found) else np.arange(count)
            positions[row] = best[np.lexsort((best, -found[best]))]
            scores[row] = found[positions[row]]
    return positions, scores


def products(queries: npt.NDArray[Any], vectors: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """[B, N]. For few queries this thread does it alone: BLAS would wake threads of its own, and those go on waiting
    busily for a while after their work, on the cores that the next graph needs."""
    if len(queries) <= FEW:
        return np.vecdot(queries[:, None], vectors)
    found: npt.NDArray[Any] = queries @ vectors.T
    return found


def faiss_is_here() -> bool:
    return find_spec("faiss") is not None


def _faiss(instead: str) -> Any:
    if not faiss_is_here():
        raise AllearsError(f"approximate search needs FAISS: run pip install faiss-cpu, or {instead}")
    import faiss

    return faiss


def build_graph(
    vectors: npt.NDArray[Any], path: Path, *, start_from: Path | None = None, watch: Watch = unwatched
) -> None:
    """Write the graph of all `vectors` to `path`; `start_from` is a graph of the first of them."""
    faiss = _faiss("build the index without a graph (--no-graph)")
    if start_from is None:
        graph = faiss.IndexHNSWFlat(vectors.shape[1], NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
    else:
        graph = faiss.read_index(str(start_from))
    graph.hnsw.efConstruction = BUILD_WIDTH
    for start in watch(range(graph.ntotal, len(vectors), ADD_AT_ONCE), "building the graph"):
        graph.add(np.ascontiguousarray(vectors[start : start + ADD_AT_ONCE], np.float32))
    faiss.write_index(graph, str(path))


class Graph:
    """An HNSW graph, opened for searching."""

    def __init__(self, path: Path):
        self.faiss = _faiss("search exactly (--exact)")
        try:
            self.index = self.faiss.read_index(str(path))
        except RuntimeError as error:
            reason = str(error).splitlines()[-1]
            raise AllearsError(
                f"{path}: the graph cannot be read ({reason}); build the index again"
            ) from error

    def search(self, queries: Floats, count: int) -> tuple[Indices, Floats]:
        """Positions and scores [B, count], best first."""
        count = min(count, self.index.ntotal)
        settings = self.faiss.SearchParametersHNSW(efSearch=max(SEARCH_WIDTH, 2 * count))
        scores, positions = self.index.search(
            np.ascontiguousarray(queries, np.float32), count, params=settings
        )
        return positions, scores
