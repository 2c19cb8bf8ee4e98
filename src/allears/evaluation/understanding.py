"""How good a head is: accuracy, top-k, macro-F1, calibration; and two models compared on the same readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from allears.conversation import Turn
from allears.corpora.heads import Head
from allears.errors import AllearsError
from allears.evaluation.sampling import sample_positions
from allears.metrics.classification import (
    Reliability,
    best_label,
    confusion,
    expected_calibration_error,
    macro_f1,
    reliability,
    top_hits,
)
from allears.metrics.significance import (
    Difference,
    Interval,
    SignTest,
    bootstrap_interval,
    mcnemar,
    paired_bootstrap,
)
from allears.models.reader.loading import PointingModel, ReadingModel
from allears.progress import Watch, unwatched
from allears.runtime.classifier import Probabilities
from allears.text.reading import Reading, gold_mask

TOPS = (1, 2, 3, 5)
PAST = ("gold", "predicted")
# Where labels do not exclude each other, all at least this likely are given, as GoEmotions' authors do.
THRESHOLD = 0.3
READ_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class UnderstandingReport:
    """One head's answers to some readings. Shares are percentages; arrays have a row per reading."""

    head: Head
    gold: np.ndarray  # [N, labels], a mask
    probabilities: Probabilities  # [N, labels]
    accuracy: Interval  # the likeliest label is true (where there are several true ones: one of them)
    top: Mapping[int, float]  # a true label is among the k likeliest
    macro_f1: float
    ece: float  # expected calibration error of the likeliest label, in points
    rationale_f1: float | None = None  # mean F1 of the tokens pointed at, where the model points
    # of the readings that have a rationale alone: elsewhere pointing at nothing is right
    rationale_f1_shown: float | None = None

    @property
    def right(self) -> np.ndarray:
        """[N]: whether the likeliest label is true."""
        return np.asarray(top_hits(self.probabilities, self.gold, 1) > 0)

    @property
    def confusion(self) -> np.ndarray:
        """[labels, labels]: true label by row, likeliest by column."""
        return confusion(self.gold, best_label(self.probabilities))

    @property
    def reliability(self) -> Reliability:
        return reliability(self.probabilities.max(axis=1), self.right)

    def flat(self) -> dict[str, float | int]:
        """Names and numbers as `--json` prints them."""
        return {
            "accuracy": self.accuracy.value,
            "accuracy_low": self.accuracy.low,
            "accuracy_high": self.accuracy.high,
            "macro_f1": self.macro_f1,
            **{f"top_{k}": value for k, value in self.top.items()},
            "ece": self.ece,
            "examples": len(self.gold),
            "labels": len(self.head.labels),
            **({} if self.rationale_f1 is None else {"rationale_f1": self.rationale_f1}),
            **({} if self.rationale_f1_shown is None else {"rationale_f1_shown": self.rationale_f1_shown}),
        }


@dataclass(frozen=True, slots=True)
class HeadComparison:
    """Two models on the same readings: first minus second, in points of accuracy."""

    accuracy: Difference
    test: SignTest  # McNemar's exact test

    def flat(self, second: UnderstandingReport) -> dict[str, float | int]:
        """Names and numbers as `--json` prints them; `p_value` is McNemar's exact test on accuracy."""
        return {
            "against_accuracy": second.accuracy.value,
            "against_macro_f1": second.macro_f1,
            "difference": self.accuracy.value,
            "difference_low": self.accuracy.low,
            "difference_high": self.accuracy.high,
            "better": self.test.wins,
            "worse": self.test.losses,
            "p_value": self.test.p_value,
            "p_value_bootstrap": self.accuracy.p_value,
        }


def evaluate_understanding(
    model: ReadingModel,
    head: Head,
    readings: Sequence[Reading],
    *,
    past: str = "gold",
    seed: int = 0,
    limit: int | None = None,
    watch: Watch = unwatched,
) -> UnderstandingReport:
    """The report of a model on labelled readings.

    `past` says which strategies of the supporter's earlier turns are shown: the "gold" ones, or those the model
    itself "predicted" on the way. `limit` measures a seeded sample.
    """
    if past not in PAST:
        raise AllearsError(f"past strategies are 'gold' or 'predicted', got {past!r}")
    if not readings:
        raise AllearsError(f"there is nothing to read for the head {head.name}")
    if past == "predicted":
        if not any(turn.strategy for reading in readings for turn in reading.turns):
            raise AllearsError(f"the head {head.name} reads no past strategies; leave out --past predicted")
        # The model needs all of a conversation's readings; the sample is taken from the answers.
        found = _with_own_strategies(model, head, readings, watch)
    else:
        found = None
    positions = sample_positions(len(readings), limit, seed)
    chosen = [readings[position] for position in positions]
    found = _read(model, head, chosen, watch) if found is None else found[positions]
    gold = gold_mask(chosen, head.labels)
    hits = {k: top_hits(found, gold, k) for k in TOPS}
    said = found >= THRESHOLD if head.multi_label else best_label(found)
    pointed = pointed_shown = None
    if isinstance(model, PointingModel) and model.points(head):
        scores = model.rationale_scores(head, chosen)
        pointed = float(scores.mean())
        shown = model.has_rationale(chosen)
        pointed_shown = float(scores[shown].mean()) if shown.any() else None
    return UnderstandingReport(
        head=head,
        gold=gold,
        probabilities=found,
        accuracy=bootstrap_interval(hits[1], seed=seed),
        top={k: float(values.mean()) for k, values in hits.items()},
        macro_f1=macro_f1(gold, said),
        ece=expected_calibration_error(found.max(axis=1), hits[1] > 0),
        rationale_f1=pointed,
        rationale_f1_shown=pointed_shown,
    )


def compare(first: UnderstandingReport, second: UnderstandingReport, seed: int = 0) -> HeadComparison:
    if not np.array_equal(first.gold, second.gold):
        raise AllearsError("two models can only be compared on the same readings")
    return HeadComparison(
        paired_bootstrap(100.0 * first.right, 100.0 * second.right, seed=seed),
        mcnemar(first.right, second.right),
    )


def _read(model: ReadingModel, head: Head, readings: Sequence[Reading], watch: Watch) -> Probabilities:
    starts = range(0, len(readings), READ_AT_ONCE)
    parts = [
        model.probabilities(head, readings[start : start + READ_AT_ONCE])
        for start in watch(starts, f"reading for {head.name}")
    ]
    return np.concatenate(parts)


def _with_own_strategies(
    model: ReadingModel, head: Head, readings: Sequence[Reading], watch: Watch
) -> Probabilities:
    """Conversation by conversation in step: every supporter's first answer, then every second one, ...

    A past turn shows what the model said there. A turn it was never asked about (the very first of a
    conversation) shows nothing.
    """
    found = np.zeros((len(readings), len(head.labels)))
    by_conversation: dict[str, list[int]] = {}
    for number, reading in enumerate(readings):
        by_conversation.setdefault(reading.conversation, []).append(number)
    rounds = max(len(numbers) for numbers in by_conversation.values())
    said: dict[tuple[str, int], str] = {}
    for turn in watch(range(rounds), f"reading for {head.name}"):
        numbers = [numbers[turn] for numbers in by_conversation.values() if turn < len(numbers)]
        part = model.probabilities(head, [_shown(readings[number], said) for number in numbers])
        found[numbers] = part
        for number, column in zip(numbers, part.argmax(axis=1), strict=True):
            reading = readings[number]
            said[reading.conversation, reading.position] = head.labels[column]
    return found


def _shown(reading: Reading, said: Mapping[tuple[str, int], str]) -> Reading:
    def with_own(turns: tuple[Turn, ...], first: int) -> tuple[Turn, ...]:
        return tuple(
            turn
            if turn.strategy is None
            else replace(turn, strategy=said.get((reading.conversation, position)))
            for position, turn in enumerate(turns, first)
        )

    first = reading.position - len(reading.turns)
    earlier = reading.earlier
    return replace(
        reading,
        turns=with_own(reading.turns, first),
        earlier=None if earlier is None else with_own(earlier, first - len(earlier)),
    )
