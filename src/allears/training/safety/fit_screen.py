"""Weigh the layers of the screen: python -m allears.training.safety.fit_screen [BUNDLE]

Two logistic regressions on the written valid cases and on ordinary turns (`ordinary.py`), with and without the
reader's risk head; the result is combination.json. Run it after the bundle, the tables or the small head have changed.
Valid and not train: the heads know the train cases by heart and are surer of them than of any other message.

The thresholds are set on scores that were made by cross-validation (ten parts, each scored by what was fitted on the
other nine), and so are the figures that it prints. The test cases are not touched.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError
from allears.runtime.changed_weights import change_file, numbers_file
from allears.safety.bundled_screen import SCREEN_FILE, bundled_head, has_screen
from allears.safety.cases_file import Case, shipped_cases
from allears.safety.combination import (
    HINT,
    NGRAMS,
    OUTRIGHT,
    READER,
    Combination,
    WeightedSum,
    danger_share,
    seen_by,
    share_of,
)
from allears.safety.dangers import NO_DANGER
from allears.safety.ngram_head import shipped_head
from allears.safety.patterns import pattern_table
from allears.safety.screen import SETTLED, Head, is_tale
from allears.training.safety.ordinary import ordinary_turns

FALSE_ALARMS = 0.03  # of the harmless messages: what all layers together may raise
ORDINARY_ALARMS = 0.004  # of ordinary turns: a conversation has many of them
ORDINARY = 2_500  # of them are looked at
SURE_FALSE_ALARMS = 0.005  # what patterns and n-grams may raise against the reader
PARTS = 10
PENALTY = 0.5  # on the squared weights, against the sum of the log-losses

WITHOUT_READER = (OUTRIGHT, HINT, NGRAMS)
WITH_READER = (*WITHOUT_READER, READER)

Values = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def fit_sum(seen: Values, danger: Flags, names: Sequence[str]) -> WeightedSum:
    """Logistic regression by Newton's method. No layer counts against danger for having seen it: weights are >= 0."""
    used = list(range(len(names)))
    while True:
        inputs = np.column_stack([seen[:, used], np.ones(len(seen))])
        penalty = 2 * PENALTY * np.diag([1.0] * len(used) + [0.0])
        found = np.zeros(len(used) + 1)
        for _ in range(50):
            share = 1 / (1 + np.exp(-np.clip(inputs @ found, -30, 30)))
            slope = inputs.T @ (share - danger) + penalty @ found
            curve = (inputs * (share * (1 - share))[:, None]).T @ inputs + penalty
            found = found - np.linalg.solve(curve + 1e-9 * np.eye(len(found)), slope)
        if (found[:-1] >= 0).all():
            weights = dict.fromkeys(names, 0.0) | {
                names[i]: float(w) for i, w in zip(used, found, strict=False)
            }
            return WeightedSum(float(found[-1]), weights)
        used.pop(int(np.argmin(found[:-1])))


def held_out_scores(seen: Values, danger: Flags, names: Sequence[str]) -> Values:
    """The log-odds of every case, by a sum that was fitted without it."""
    part = np.random.default_rng(0).permutation(len(seen)) % PARTS
    scores = np.zeros(len(seen))
    for number in range(PARTS):
        held = part == number
        fitted = fit_sum(seen[~held], danger[~held], names)
        scores[held] = seen[held] @ np.array([fitted.weights[name] for name in names]) + fitted.bias
    return scores


def threshold_for(scores: Values, allowed: int) -> float:
    """The lowest threshold that at most `allowed` of these scores reach."""
    if allowed >= len(scores):
        return float(scores.min(initial=0.0))
    at_most = np.sort(scores)[::-1][max(0, allowed)]
    return float(np.nextafter(at_most, np.inf)) + 1e-6


def weigh(
    written: Sequence[Case], ordinary: Sequence[str], reader: Head, facts: dict[str, str]
) -> tuple[Combination, dict[str, float]]:
    """The combination, and its cross-validated recall and false alarms (with the reader and without)."""
    table, ngrams = pattern_table(), shipped_head()
    cases = [*written, *(Case(text, NO_DANGER) for text in ordinary)]
    danger = np.array([case.is_danger for case in cases])
    usual = np.arange(len(cases)) >= len(written)
    hard = ~danger & ~usual
    small, large = [ngrams(case.text) for case in cases], [reader(case.text) for case in cases]
    found = [table.find(case.text) for case in cases]
    rows = [
        seen_by(patterns, one, other, everyday=table.is_everyday(case.text), tale=is_tale(case.text))
        for case, patterns, one, other in zip(cases, found, small, large, strict=True)
    ]
    settled = np.array([any(item.weight >= SETTLED for item in patterns) for patterns in found])
    seen = np.array([[row[name] for name in WITH_READER] for row in rows])
    bare = seen[:, : len(WITHOUT_READER)]

    without, together = (
        held_out_scores(bare, danger, WITHOUT_READER),
        held_out_scores(seen, danger, WITH_READER),
    )

    def highest(scores: Values, share: float, but: Flags | None = None) -> float:
        """The threshold that keeps both kinds of false alarms rare; what is raised already (`but`) is counted in."""
        raised = np.zeros(len(scores), bool) if but is None else but
        return max(
            threshold_for(scores[which & ~raised], int(part * which.sum()) - int((which & raised).sum()))
            for which, part in ((hard, share), (usual, ORDINARY_ALARMS))
            if which.any()
        )

    sure = highest(without, SURE_FALSE_ALARMS)
    sure_raised = (without >= sure) | settled
    sums = fit_sum(bare, danger, WITHOUT_READER), fit_sum(seen, danger, WITH_READER)
    said = seen[:, WITH_READER.index(OUTRIGHT)] > 0
    outright = [
        settled | (said & (scores >= each.outright_alone))
        for scores, each in zip((without, together), sums, strict=True)
    ]
    thresholds = (
        highest(without, FALSE_ALARMS, outright[0]),
        highest(together, FALSE_ALARMS, sure_raised | outright[1]),
    )
    alone = {
        layer: _rounded(highest(np.array([danger_share(each) for each in shares]), FALSE_ALARMS))
        for layer, shares in ((NGRAMS, small), (READER, large))
    }
    raised = {
        "without_reader": (without >= thresholds[0]) | outright[0],
        "with_reader": (together >= thresholds[1]) | sure_raised | outright[1],
    }
    figures = {
        f"{name}_{kind}": round(100 * float(alarms[which].mean()), 2)
        for name, alarms in raised.items()
        for kind, which in (("recall", danger), ("false_alarms", hard), ("ordinary", usual))
        if which.any()
    }
    combination = Combination(
        _with_threshold(sums[0], thresholds[0]),
        _with_threshold(sums[1], thresholds[1]),
        _rounded(sure),
        alone,
        facts | {"cases": len(written), "ordinary": len(ordinary)} | figures,
    )
    return combination, figures


def reader_fingerprint(folder: Path) -> str:
    """Which reader it was: the beginning of its file's SHA-256, as the bundle's card has it."""
    from allears.runtime.bundle import BundleCard
    from allears.runtime.reader_card import READER_FILE

    card = BundleCard.read(folder)
    numbers = numbers_file(change_file(SCREEN_FILE))
    return card.files[numbers if has_screen(card) else READER_FILE].sha256[:16]


def main() -> None:
    from allears.runtime.bundle import default_bundle

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default_bundle()
    reader = bundled_head(folder)
    if reader is None:
        raise AllearsError(
            f"{folder}: this bundle reads no danger; export it with a screen or a reader of risk"
        )
    combination, figures = weigh(
        shipped_cases("valid"),
        ordinary_turns("valid", ORDINARY),
        reader,
        {"reader": reader_fingerprint(folder)},
    )
    target = Path(str(files("allears.safety"))) / "combination.json"
    target.write_text(combination.to_json(), encoding="utf-8")
    for name, each in (("without", combination.without_reader), ("with", combination.with_reader)):
        weights = ", ".join(f"{layer} {weight:.2f}" for layer, weight in each.weights.items())
        print(
            f"{name} the reader: {weights}; bias {each.bias:.2f}; danger from {share_of(each.threshold):.2f}; "
            f"cross-validated recall {figures[f'{name}_reader_recall']:.1f}%, "
            f"false alarms {figures[f'{name}_reader_false_alarms']:.1f}%, "
            f"on ordinary turns {figures[f'{name}_reader_ordinary']:.1f}%"
        )
    print("written: combination.json")


def _with_threshold(fitted: WeightedSum, threshold: float) -> WeightedSum:
    weights = {name: _rounded(weight) for name, weight in fitted.weights.items()}
    return WeightedSum(_rounded(fitted.bias), weights, _rounded(threshold))


def _rounded(value: float) -> float:
    return round(value, 5)


if __name__ == "__main__":
    main()
