"""How good a selection model is: R@k and MRR among C candidates, and two models compared.

Everything here sees a model only through the `Selector` protocol, so a torch run and an ONNX bundle are
measured by the same lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from allears.conversation import Example
from allears.errors import AllearsError
from allears.evaluation.sampling import sample_positions
from allears.metrics.ranking import draw_candidates, hits_at, ranks, reciprocal_ranks, true_mask
from allears.metrics.significance import (
    Difference,
    Interval,
    SignTest,
    bootstrap_interval,
    mcnemar,
    paired_bootstrap,
    sign_test,
)
from allears.progress import Watch, unwatched
from allears.runtime.selector import Indices, Query, Scores, Selector

# Context-candidate pairs scored in one call: bounds the memory of models that keep one vector per token.
PAIRS_AT_ONCE = 8192

MEASURES: dict[str, Callable[[Indices], npt.NDArray[np.float64]]] = {
    "recall_at_1": partial(hits_at, k=1),
    "recall_at_10": partial(hits_at, k=10),
    "recall_at_50": partial(hits_at, k=50),
    "mrr": reciprocal_ranks,
}
"""Every measure as a value per example; its mean is the measure."""


@dataclass(frozen=True, slots=True)
class SelectionReport:
    """Percentages over some examples, their 95% bootstrap intervals, and every rank for paired tests."""

    intervals: Mapping[str, Interval]  # by the names of MEASURES
    ranks: Indices  # [N], 1 is the top
    positions: Indices  # [N], which examples of the split these are
    candidates: int
    seed: int
    by_emotion: Mapping[str, SelectionReport] = field(default_factory=dict)

    @property
    def recall_at_1(self) -> float:
        return self.intervals["recall_at_1"].value

    @property
    def recall_at_10(self) -> float:
        return self.intervals["recall_at_10"].value

    @property
    def recall_at_50(self) -> float:
        return self.intervals["recall_at_50"].value

    @property
    def mrr(self) -> float:
        return self.intervals["mrr"].value

    def flat(self) -> dict[str, float | int]:
        """Names and numbers as `--json` prints them: recall_at_1, recall_at_1_low, recall_at_1_high, ..."""
        numbers: dict[str, float | int] = {}
        for name, interval in self.intervals.items():
            numbers |= {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}
        return numbers | {"examples": len(self.ranks), "candidates": self.candidates, "seed": self.seed}


@dataclass(frozen=True, slots=True)
class SelectionComparison:
    """Two models on the same examples and candidates: first minus second, in percentage points."""

    recall_at_1: Difference
    mrr: Difference
    recall_test: SignTest  # McNemar's exact test on R@1
    rank_test: SignTest  # sign test on the ranks

    def flat(self, second: SelectionReport) -> dict[str, float]:
        """Names and numbers as `--json` prints them; `p_value` is McNemar's exact test on R@1."""
        return {
            "against_recall_at_1": second.recall_at_1,
            "against_mrr": second.mrr,
            "difference": self.recall_at_1.value,
            "difference_low": self.recall_at_1.low,
            "difference_high": self.recall_at_1.high,
            "p_value": self.recall_test.p_value,
            "p_value_bootstrap": self.recall_at_1.p_value,
            "difference_mrr": self.mrr.value,
            "difference_mrr_low": self.mrr.low,
            "difference_mrr_high": self.mrr.high,
            "p_value_mrr": self.rank_test.p_value,
            "p_value_mrr_bootstrap": self.mrr.p_value,
        }


def evaluate_selection(
    selector: Selector,
    examples: Sequence[Example],
    candidates: int = 100,
    seed: int = 0,
    *,
    batch: int = 32,
    persona_sentences: int | None = None,
    limit: int | None = None,
    watch: Watch = unwatched,
) -> SelectionReport:
    """R@1, R@10, R@50 and MRR of the true response among `candidates` responses of the same split.

    `persona_sentences` bounds each persona (0 switches it off, None leaves that to the model). `limit` takes
    a seeded sample of the examples; candidates are drawn from all of them either way, and an example's
    candidates are the same with and without a limit.
    """
    if not examples:
        raise AllearsError("there are no examples to evaluate on; the split is empty")
    texts = [example.response.text for example in examples]
    positions = sample_positions(len(examples), limit, seed)
    chosen = draw_candidates(texts, candidates, seed, positions)
    queries = [query_for(examples[position], persona_sentences) for position in positions]
    scores = _scores(selector, queries, texts, chosen, batch=batch, watch=watch)
    found = ranks(scores, true_mask(texts, chosen))
    emotions = np.array([str(examples[position].labels.get("emotion") or "") for position in positions])
    return replace(
        _report(found, positions, candidates, seed),
        by_emotion={
            str(emotion): _report(
                found[emotions == emotion], positions[emotions == emotion], candidates, seed
            )
            for emotion in np.unique(emotions[emotions != ""])
        },
    )


def _report(found: Indices, positions: Indices, candidates: int, seed: int) -> SelectionReport:
    intervals = {name: bootstrap_interval(values(found), seed=seed) for name, values in MEASURES.items()}
    return SelectionReport(intervals, found, positions, candidates, seed)


def compare(first: SelectionReport, second: SelectionReport) -> SelectionComparison:
    """Paired significance of two reports over the same examples with the same candidates."""
    same = (first.candidates, first.seed) == (second.candidates, second.seed)
    if not same or not np.array_equal(first.positions, second.positions):
        raise ValueError("the two reports are not about the same examples and candidates")
    right, other_right = hits_at(first.ranks, 1), hits_at(second.ranks, 1)
    return SelectionComparison(
        recall_at_1=paired_bootstrap(right, other_right, seed=first.seed),
        mrr=paired_bootstrap(reciprocal_ranks(first.ranks), reciprocal_ranks(second.ranks), seed=first.seed),
        recall_test=mcnemar(right, other_right),
        rank_test=sign_test(-first.ranks, -second.ranks),  # a lower rank is better
    )


def query_for(example: Example, persona_sentences: int | None = None) -> Query:
    """The example without its answer. A persona sentence that the answer contains would give it away and is
    dropped, as in training."""
    response = _plain(example.response.text)
    kept = [text for text in example.persona.texts if _plain(text) not in response]
    return Query(example.context, tuple(kept if persona_sentences is None else kept[:persona_sentences]))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _scores(
    selector: Selector,
    queries: Sequence[Query],
    texts: Sequence[str],
    chosen: Indices,
    *,
    batch: int,
    watch: Watch,
) -> Scores:
    """[N, C]. Only texts that are somebody's candidate are encoded, equal ones once."""
    used, rows = np.unique(chosen, return_inverse=True)
    numbers: dict[str, int] = {}
    text_of_used = np.array([numbers.setdefault(texts[index], len(numbers)) for index in used], np.int64)
    encoded = encode(selector, list(numbers), watch)
    rows = text_of_used[rows.reshape(chosen.shape)]
    scores = np.empty(chosen.shape, np.float32)
    together = max(1, min(batch, PAIRS_AT_ONCE // chosen.shape[1]))
    for part in watch(batches(queries, together), "scoring"):
        scores[part] = selector.score([queries[position] for position in part], encoded, rows[part])
    return scores


def encode(selector: Selector, texts: Sequence[str], watch: Watch) -> Any:
    """The encoded candidates. One long call, but the person who waits should know what for."""
    (encoded,) = [
        selector.encode_responses(part) for part in watch([texts], f"encoding {len(texts):,} responses")
    ]
    return encoded


def batches(queries: Sequence[Query], batch: int) -> list[Indices]:
    """Positions in batches of similar length, so that little of a batch is padding."""
    lengths = [
        sum(len(turn.text) for turn in query.context) + sum(map(len, query.persona)) for query in queries
    ]
    order = np.argsort(lengths, kind="stable")
    return [order[start : start + batch] for start in range(0, len(order), batch)]
