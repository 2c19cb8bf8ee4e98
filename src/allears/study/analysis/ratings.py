"""Likert ratings of systems: means with SEM (ED, Tables 2 and 8; MIME, Tables 2 and 5), by polarity (MIME, Table 4) and
by emotion, tests between systems, and how many more ratings it would take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from statistics import fmean

from allears.labels import POLARITIES, POLARITY_OF
from allears.metrics.significance import bootstrap_interval
from allears.study.analysis.judgements import Judgement, by_item
from allears.study.analysis.means import Mean, TTest, compare, holm, mean_with_sem
from allears.study.analysis.power import groups_needed, pairs_needed
from allears.study.analysis.render import Table, TableCell, number, p_value, row
from allears.study.blocks import Likert, shown_label
from allears.study.design import Design, SystemSpec


def rated(design: Design) -> list[Likert]:
    return [question for question in design.questions if isinstance(question, Likert)]


def values(rows: Iterable[Judgement], question: str, system: str) -> list[float]:
    return [float(row.value) for row in rows if row.question == question and row.system == system]


def item_means(rows: Iterable[Judgement], question: str, system: str) -> dict[str, float]:
    """The mean of each item's raters: ratings of one item are no independent observations, items are."""
    mine = [row for row in rows if row.question == question and row.system == system]
    return {item: fmean(float(row.value) for row in found) for item, found in by_item(mine).items()}


def rating_tables(design: Design, rows: Sequence[Judgement]) -> list[Table]:
    questions = rated(design)
    if not questions or not design.systems:
        return []
    tables = [
        _means(design, rows, questions, with_sem=True),
        _means(design, rows, questions, with_sem=False),
        _intervals(design, rows, questions),
    ]
    if any(each.emotion in POLARITY_OF for each in rows):
        tables += [_by_polarity(design, rows, questions), *_by_emotion(design, rows, questions)]
    if len(design.systems) > 1:
        tables.append(_tests(design, rows))
    return tables


def _means(
    design: Design, rows: Sequence[Judgement], questions: Sequence[Likert], *, with_sem: bool
) -> Table:
    means = {
        (system.name, question.key): mean_with_sem(values(rows, question.key, system.name))
        for system in design.systems
        for question in questions
    }
    extra = list(dict.fromkeys(name for system in design.systems for name in system.columns))
    grouped = any(system.group for system in design.systems)
    found = []
    for system in design.systems:
        is_reference = system.name == design.analysis.reference
        words = [system.group] if grouped else []
        cells = [
            TableCell(
                _mean(means[system.name, question.key], with_sem),
                bold=_is_best(system, question.key, design.systems, means),
            )
            for question in questions
        ]
        columns = [system.columns.get(name, "–") for name in extra]
        found.append(row(*words, TableCell(system.name, italic=is_reference), *columns, *cells))
    header = (*(["Group"] if grouped else []), "Model", *extra, *(shown_label(each) for each in questions))
    counts = [each.count for each in means.values() if each.count]
    notes = [
        f"{_range(counts)} ratings per model and question; bold: best"
        + (" of its group." if grouped else ".")
    ]
    if design.analysis.reference:
        notes[0] += f" Italics: {design.analysis.reference}, the reference."
    if with_sem:
        notes.append("± is the standard error of the mean over ratings.")
    return Table(
        "ratings" if with_sem else "ratings-means",
        "Human ratings" if with_sem else "Human ratings, means alone",
        header,
        tuple(found),
        tuple(notes),
        "ED, Tables 2 and 8" if with_sem else "MIME, Tables 2 and 5",
        words=len(header) - len(questions),
    )


def _is_best(
    system: SystemSpec,
    question: str,
    systems: Sequence[SystemSpec],
    means: Mapping[tuple[str, str], Mean],
) -> bool:
    """Of its group; people's own replies do not compete."""
    rivals = [
        means[other.name, question].value
        for other in systems
        if other.group == system.group and not other.gold and means[other.name, question].count
    ]
    mine = means[system.name, question]
    return len(rivals) > 1 and not system.gold and mine.count > 0 and mine.value == max(rivals)


def _mean(mean: Mean, with_sem: bool) -> str:
    return f"{number(mean.value)} ± {number(mean.sem)}" if with_sem else number(mean.value)


def _range(counts: Sequence[int]) -> str:
    if not counts:
        return "0"
    return str(min(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _intervals(design: Design, rows: Sequence[Judgement], questions: Sequence[Likert]) -> Table:
    found = []
    for system in design.systems:
        cells = []
        for question in questions:
            means = list(item_means(rows, question.key, system.name).values())
            if not means:
                cells.append("–")
                continue
            interval = bootstrap_interval(means, samples=design.analysis.samples, seed=design.seed)
            cells.append(f"{number(interval.value)} [{number(interval.low)}, {number(interval.high)}]")
        found.append(row(system.name, *cells))
    header = ("Model", *(shown_label(each) for each in questions))
    note = f"95% bootstrap intervals over items ({design.analysis.samples} samples, seed {design.seed})."
    return Table("ratings-intervals", "Human ratings with intervals", header, tuple(found), (note,))


def _by_polarity(design: Design, rows: Sequence[Judgement], questions: Sequence[Likert]) -> Table:
    split = {
        polarity: [each for each in rows if POLARITY_OF.get(each.emotion) == polarity]
        for polarity in POLARITIES
    }
    found = []
    for question in questions:
        means = {
            (system.name, polarity): mean_with_sem(values(split[polarity], question.key, system.name)).value
            for system in design.systems
            for polarity in POLARITIES
        }
        best = {
            polarity: max(
                (value for (_, mine), value in means.items() if mine == polarity and not isnan(value)),
                default=0.0,
            )
            for polarity in POLARITIES
        }
        found.append(
            row(
                shown_label(question),
                *(
                    TableCell(
                        number(means[system.name, polarity]), means[system.name, polarity] == best[polarity]
                    )
                    for system in design.systems
                    for polarity in POLARITIES
                ),
            )
        )
    names = {"positive": "Pos", "negative": "Neg"}
    header = tuple(f"{system.name} {names[polarity]}" for system in design.systems for polarity in POLARITIES)
    note = "Pos and Neg: items with positive and with negative emotions. Bold: best."
    return Table(
        "ratings-polarity",
        "Human ratings by polarity",
        ("Ratings", *header),
        tuple(found),
        (note,),
        "MIME, Table 4",
    )


def _by_emotion(design: Design, rows: Sequence[Judgement], questions: Sequence[Likert]) -> list[Table]:
    emotions = sorted({each.emotion for each in rows if each.emotion})
    tables = []
    for question in questions:
        found = []
        for emotion in emotions:
            mine = [each for each in rows if each.emotion == emotion]
            means = [mean_with_sem(values(mine, question.key, system.name)) for system in design.systems]
            found.append(row(emotion, *(_mean(mean, True) for mean in means)))
        header = ("Emotion", *(system.name for system in design.systems))
        tables.append(
            Table(
                f"ratings-emotion-{question.key}", f"{shown_label(question)} by emotion", header, tuple(found)
            )
        )
    return tables


def system_tests(design: Design, rows: Sequence[Judgement]) -> list[tuple[str, str, str, TTest, float]]:
    """(question, better, worse, test, Holm's p): each pair of systems, or all against the reference. One-tailed, in
    the direction that the means have."""
    names = [system.name for system in design.systems]
    reference = design.analysis.reference
    against = (
        [(name, reference) for name in names if name != reference]
        if reference
        else [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
    )
    found: list[tuple[str, str, str, TTest]] = []
    for question in rated(design):
        for one, other in against:
            first, second = (item_means(rows, question.key, name) for name in (one, other))
            if not first or not second:
                continue
            larger, smaller = one, other
            if fmean(first.values()) < fmean(second.values()):
                larger, smaller, first, second = other, one, second, first
            found.append((question.key, larger, smaller, compare(first, second)))
    corrected = holm([test.p for *_, test in found])
    return [(*each, p) for each, p in zip(found, corrected, strict=True)]


def _tests(design: Design, rows: Sequence[Judgement]) -> Table:
    labels = {question.key: shown_label(question) for question in rated(design)}
    options = design.analysis
    found = []
    for key, larger, smaller, test, corrected in system_tests(design, rows):
        needed = (pairs_needed if test.paired else groups_needed)(test.effect, options.power, options.alpha)
        found.append(
            row(
                labels[key],
                f"{larger} > {smaller}",
                number(test.difference),
                number(test.t),
                p_value(test.p),
                TableCell(p_value(corrected), bold=not isnan(corrected) and corrected < options.alpha),
                _more(needed, min(test.counts), design.raters.per_unit),
            )
        )
    notes = (
        "One-tailed t-tests on the items' means (paired where both systems have the same items, Welch's otherwise), "
        f"with Holm's correction over the whole table; bold: p < {options.alpha}.",
        f"More ratings: how many more of each system a power of {options.power:g} would take if the difference were "
        "what was seen.",
    )
    header = ("Question", "Larger", "Difference", "t", "p", "p (Holm)", "More ratings")
    return Table("ratings-tests", "Tests between systems", header, tuple(found), notes, words=2)


def _more(needed: int | None, have: int, per_unit: int) -> str:
    if needed is None:
        return "–"
    return str(max(0, needed - have) * per_unit)
