"""Train the small head that ships: python -m allears.training.safety.train_ngram_head (needs SciPy).

Multinomial logistic regression on the written train cases and on ordinary turns of published conversations
(`ordinary.py`), the same file for the same cases. How much it counts beside the other layers is another step: run
`python -m allears.training.safety.fit_screen` after it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from allears.safety.cases_file import Case, shipped_cases
from allears.safety.dangers import LABELS, NO_DANGER
from allears.safety.ngram_head import BUCKETS, counts, parts
from allears.training.safety.ordinary import ordinary_turns

PENALTY = 0.02  # on the squared weights, against the mean log-loss times the number of cases

ORDINARY = 12_000  # turns that are learned as harmless

Values = npt.NDArray[np.float64]


def fit(cases: Sequence[Case], penalty: float = PENALTY) -> tuple[Values, Values, Values]:
    """Weights [buckets, labels], bias [labels] and idf [buckets]."""
    from scipy.optimize import minimize

    texts = [next(iter(parts(case.text))) for case in cases]
    features, idf = _features(texts)
    gold = np.eye(len(LABELS))[[LABELS.index(case.label) for case in cases]]
    used = np.unique(features.indices)  # buckets that no case hits keep weight 0
    small = features[:, used]

    def loss(flat: Values) -> tuple[float, Values]:
        weights = flat[: -len(LABELS)].reshape(len(used), len(LABELS))
        logits = small @ weights + flat[-len(LABELS) :]
        logits = logits - logits.max(axis=1, keepdims=True)
        log_shares = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        wrong = np.exp(log_shares) - gold
        gradient = np.concatenate([(small.T @ wrong + 2 * penalty * weights).ravel(), wrong.sum(axis=0)])
        return float(-(gold * log_shares).sum() + penalty * (weights**2).sum()), gradient

    start = np.zeros((len(used) + 1) * len(LABELS))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 60}).x
    weights = np.zeros((BUCKETS, len(LABELS)))
    weights[used] = found[: -len(LABELS)].reshape(len(used), len(LABELS))
    return weights, found[-len(LABELS) :], idf


def _features(texts: Sequence[str]):  # a SciPy sparse matrix, and idf
    from scipy.sparse import csr_matrix

    rows = [counts(text) for text in texts]
    pointers = np.cumsum([0, *(len(buckets) for buckets, _ in rows)])
    columns = np.concatenate([buckets for buckets, _ in rows])
    idf = 1 + np.log((1 + len(texts)) / (1 + np.bincount(columns, minlength=BUCKETS)))
    values = [values * idf[buckets] for buckets, values in rows]
    scaled = [row / (np.linalg.norm(row) or 1.0) for row in values]
    return csr_matrix((np.concatenate(scaled), columns, pointers), shape=(len(texts), BUCKETS)), idf


def main() -> None:
    cases = shipped_cases("train")
    ordinary = [Case(text, NO_DANGER) for text in ordinary_turns("train", ORDINARY)]
    weights, bias, idf = fit([*cases, *ordinary])
    scale = np.abs(weights).max() / 127
    card = json.dumps({"labels": LABELS, "cases": len(cases), "ordinary": len(ordinary)})
    packed = io.BytesIO()
    np.savez_compressed(
        packed,
        weights=np.round(weights / scale).astype(np.int8),
        scale=np.float32(scale),
        bias=bias.astype(np.float32),
        idf=idf.astype(np.float16),
        card=np.frombuffer(card.encode(), np.uint8),
    )
    target = Path(str(files("allears.safety"))) / "ngram_head.npz"
    target.write_bytes(packed.getvalue())
    size = len(packed.getvalue()) / 1024
    print(f"{len(cases):,} cases, {len(ordinary):,} ordinary turns; {target.name}: {size:.0f} KiB")


if __name__ == "__main__":
    main()
