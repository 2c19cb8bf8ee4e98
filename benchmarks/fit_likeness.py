"""When may an answer to one message be said to another? Fits `allears.listener.answered.likeness.Likeness`.

    python benchmarks/fit_likeness.py

Four readers (language models, each with a fresh context) judged 1,529 answers that lay nearest, second or fourth
nearest to the messages and talks of `judged_replies.jsonl`: good, plain or off the point. `judged_answers.csv` has what
is known of each answer beside its mark. Prints the coefficients, how well those of three readers' answers tell the
fourth's apart (area under the curve), and what is kept at several thresholds.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

JUDGED = Path(__file__).with_name("judged_answers.csv")
NAMES = ("first", "second", "talk", "presumed", "length", "asks")
THRESHOLDS = (-0.5, 0.0, 0.5, 1.0, 1.5)


def main() -> None:
    with JUDGED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    told = ("first", "second", "talk", "presumed", "words", "asks")
    known = np.array([[float(row[name]) for name in told] for row in rows])
    known[:, told.index("words")] = np.log(np.maximum(1, known[:, told.index("words")]))
    fits, good = (
        np.array([row["mark"] in wanted for row in rows]) for wanted in (("good", "plain"), ("good",))
    )
    readers = np.array([int(row["reader"]) for row in rows])
    held = np.zeros(len(rows))
    for reader in np.unique(readers):
        others = readers != reader
        fitted = LogisticRegression(C=1e3, max_iter=5000).fit(known[others], fits[others])
        held[~others] = fitted.decision_function(known[~others])
        area = roc_auc_score(fits[~others], held[~others])
        print(f"reader {reader}: {np.sum(~others)} answers, {fits[~others].mean():.0%} fit; area {area:.3f}")
    fitted = LogisticRegression(C=1e3, max_iter=5000).fit(known, fits)
    print(f"start {fitted.intercept_[0]:.2f}")
    for name, value in zip(NAMES, fitted.coef_[0], strict=True):
        print(f"{name} {value:.2f}")
    for least in THRESHOLDS:
        kept = held > least
        shares = f"{fits[kept].mean():.0%} fit, {good[kept].mean():.0%} good"
        print(f"above {least:+.1f}: {kept.mean():.0%} kept, of which {shares}")


if __name__ == "__main__":
    main()
