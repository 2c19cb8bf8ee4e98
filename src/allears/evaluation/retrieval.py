"""Retrieval BLEU, as in the ED paper: the best answer of a whole training pool against the gold response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from allears.conversation import Example
from allears.corpora.files import CorpusError, Source, lines, valid_utf8
from allears.corpora.split_examples import split_examples
from allears.errors import AllearsError
from allears.evaluation.selection import PAIRS_AT_ONCE, batches, encode, query_for
from allears.metrics.bleu import avg_bleu, bleu
from allears.progress import Watch, unwatched
from allears.runtime.selector import Indices, Query, Selector

RERANKED = 100  # how many of the first stage's best candidates the whole model looks at again


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """The best candidate of a training pool against the gold response. BLEUs are percentages."""

    avg_bleu: float
    bleu_4: float
    pool: int
    responses: tuple[str, ...]  # what was retrieved, in the order of the examples


def read_pool(pool: str, root: Path | str | None = None) -> list[str]:
    """The candidates of a pool: the responses in a corpus's train split, or the lines of a text file."""
    path = Path(pool)
    if not path.is_file() or ".jsonl" in path.suffixes:
        return [example.response.text for example in split_examples(pool, "train", root)]
    source = Source(path)
    texts = []
    for number, line in enumerate(lines(source), start=1):
        if not valid_utf8(line):
            raise CorpusError("not valid UTF-8", source=source, line=number)
        texts.append(line.strip())
    return texts


def retrieval_bleu(
    selector: Selector,
    examples: Sequence[Example],
    pool_texts: Sequence[str],
    *,
    batch: int = 32,
    persona_sentences: int | None = None,
    watch: Watch = unwatched,
) -> RetrievalReport:
    """The ED paper's retrieval BLEU: the best candidate of a whole training pool against the gold response.

    A model with one vector per candidate is asked in two stages: every candidate by its vector, then the best
    `RERANKED` by the model's own score. Any other model scores every candidate.
    """
    pool = list(dict.fromkeys(text for text in pool_texts if text.strip()))
    if not pool:
        raise AllearsError("the candidate pool is empty; there is nothing to retrieve")
    if not examples:
        raise AllearsError("there are no examples to evaluate on; the split is empty")
    queries = [query_for(example, persona_sentences) for example in examples]
    encoded = encode(selector, pool, watch)
    best = _best_of_pool(selector, queries, encoded, size=len(pool), batch=batch, watch=watch)
    responses = [pool[index] for index in best]
    gold = [example.response.text for example in examples]
    return RetrievalReport(avg_bleu(responses, gold), bleu(responses, gold, 4), len(pool), tuple(responses))


def _best_of_pool(
    selector: Selector, queries: Sequence[Query], encoded: Any, *, size: int, batch: int, watch: Watch
) -> Indices:
    """The position of each query's best candidate; of equal scores, the first in the pool."""
    vectors = _vectors(encoded)
    query_vectors = getattr(selector, "query_vectors", None)
    best = np.empty(len(queries), np.int64)
    for part in watch(batches(queries, batch), "searching the pool"):
        asked = [queries[position] for position in part]
        if vectors is None or query_vectors is None or size <= RERANKED:
            best[part] = _best_of_all(selector, asked, encoded, size)
            continue
        first_stage = _array(query_vectors(asked)) @ vectors.T
        chosen = np.sort(np.argpartition(-first_stage, RERANKED - 1, axis=1)[:, :RERANKED], axis=1)
        scores = selector.score(asked, encoded, chosen)
        best[part] = chosen[np.arange(len(part)), scores.argmax(axis=1)]
    return best


def _best_of_all(selector: Selector, queries: Sequence[Query], encoded: Any, size: int) -> Indices:
    """Every candidate scored, a chunk at a time."""
    best = np.zeros(len(queries), np.int64)
    best_score = np.full(len(queries), -np.inf, np.float32)
    step = max(1, PAIRS_AT_ONCE // len(queries))
    for start in range(0, size, step):
        chunk = np.arange(start, min(start + step, size))
        scores = selector.score(queries, encoded, np.tile(chunk, (len(queries), 1)))
        top = scores.argmax(axis=1)
        score = scores[np.arange(len(queries)), top]
        better = score > best_score
        best[better], best_score[better] = chunk[top[better]], score[better]
    return best


def _vectors(encoded: Any) -> npt.NDArray[np.float32] | None:
    """One vector per candidate: `.vectors` of an ONNX selector, `.vector` of a torch one, or None."""
    found = getattr(encoded, "vectors", None)
    if found is None:
        found = getattr(encoded, "vector", None)
    return None if found is None else _array(found)


def _array(values: Any) -> npt.NDArray[np.float32]:
    """A NumPy array of a NumPy array or a torch tensor, without importing torch."""
    return np.asarray(values.float().cpu() if hasattr(values, "cpu") else values, np.float32)
