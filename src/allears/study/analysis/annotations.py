"""Choices about items: means by group against a control group (PEC, Table 2), and shares of options (PAL's judgement of
inferred personas)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isnan
from statistics import fmean

from allears.metrics.significance import wilson_interval
from allears.study.analysis.judgements import Judgement, by_unit
from allears.study.analysis.means import holm, mean_with_sem, welch_t_test
from allears.study.analysis.power import groups_needed
from allears.study.analysis.render import Table, TableCell, number, p_value, row
from allears.study.assignment import majority
from allears.study.blocks import ChoiceQuestion, Likert, shown_label
from allears.study.design import Design


def annotation_tables(design: Design, rows: Sequence[Judgement]) -> list[Table]:
    choices = [question for question in design.questions if isinstance(question, ChoiceQuestion)]
    valued = [question for question in choices if question.options[0].value is not None]
    scales: list[ChoiceQuestion | Likert] = list(valued)
    if not design.systems:
        scales += [question for question in design.questions if isinstance(question, Likert)]
    tables = [_groups(design, rows, scales), *_group_tests(design, rows, scales)] if scales else []
    return tables + [_shares(design, rows, question) for question in choices if question not in valued]


def unit_values(rows: Sequence[Judgement], question: ChoiceQuestion | Likert) -> dict[str, tuple[str, float]]:
    """Each unit's group and value: of a choice what the majority chose, and the mean where there is no majority; of a
    scale the mean."""
    numbers = (
        {option.key: float(option.value or 0) for option in question.options}
        if isinstance(question, ChoiceQuestion)
        else {}
    )
    found: dict[str, tuple[str, float]] = {}
    for unit, votes in by_unit(each for each in rows if each.question == question.key).items():
        agreed = majority(str(each.value) for each in votes) if numbers else None
        value = (
            numbers[agreed]
            if agreed is not None
            else fmean(numbers[each.value] if numbers else float(each.value) for each in votes)
        )
        found[unit] = (votes[0].group, value)
    return found


def groups(design: Design, rows: Sequence[Judgement]) -> list[str]:
    """In order, the control group last."""
    control = design.analysis.control
    names = sorted({each.group for each in rows})
    return [name for name in names if name != control] + ([control] if control in names else [])


def _groups(design: Design, rows: Sequence[Judgement], questions: Sequence[ChoiceQuestion | Likert]) -> Table:
    names = groups(design, rows)
    found = []
    for question in questions:
        values = unit_values(rows, question)
        means = [
            mean_with_sem([value for group, value in values.values() if group == name]) for name in names
        ]
        found.append(
            row(shown_label(question), *(f"{number(mean.value)} ± {number(mean.sem)}" for mean in means))
        )
    shown = [name or "all" for name in names]
    counts = Counter(group for group, _ in unit_values(rows, questions[0]).values())
    notes = (
        "Ratings are aggregated by majority voting; the mean counts where there is no majority. ± is the standard "
        "error of the mean over items.",
        "Items: " + ", ".join(f"{name or 'all'} {counts[name]}" for name in names) + ".",
    )
    return Table("groups", "Annotations by group", ("", *shown), tuple(found), notes, "PEC, Table 2")


def _group_tests(
    design: Design, rows: Sequence[Judgement], questions: Sequence[ChoiceQuestion | Likert]
) -> list[Table]:
    control = design.analysis.control
    names = [name for name in groups(design, rows) if name != control]
    if not control or not any(each.group == control for each in rows) or not names:
        return []
    tests = []
    for question in questions:
        values = list(unit_values(rows, question).values())
        base = [value for group, value in values if group == control]
        for name in names:
            mine = [value for group, value in values if group == name]
            larger = fmean(mine) >= fmean(base)
            test = welch_t_test(mine, base) if larger else welch_t_test(base, mine)
            words = f"{name} > {control}" if larger else f"{control} > {name}"
            tests.append((shown_label(question), words, test))
    corrected = holm([test.p for *_, test in tests])
    options = design.analysis
    found = []
    for (label, words, test), p in zip(tests, corrected, strict=True):
        needed = groups_needed(test.effect, options.power, options.alpha)
        more = "–" if needed is None else str(max(0, needed - min(test.counts)) * design.raters.per_unit)
        bold = not isnan(p) and p < options.alpha
        found.append(
            row(
                label,
                words,
                number(test.difference),
                number(test.t),
                p_value(test.p),
                TableCell(p_value(p), bold),
                more,
            )
        )
    notes = (
        f"One-tailed Welch t-tests on items against {control}, with Holm's correction over the table; bold: "
        f"p < {options.alpha}. More ratings: of each group, for a power of {options.power:g}.",
    )
    header = ("", "Larger", "Difference", "t", "p", "p (Holm)", "More ratings")
    return [Table("group-tests", "Groups against the control group", header, tuple(found), notes, words=2)]


def _shares(design: Design, rows: Sequence[Judgement], question: ChoiceQuestion) -> Table:
    """Of all judgements, by system where there are systems and by group where there are groups."""
    mine = [each for each in rows if each.question == question.key]
    parts: list[tuple[str, list[Judgement]]] = [("all", mine)]
    systems = [system.name for system in design.systems] if design.shown_systems == 1 else []
    parts += [(name, [each for each in mine if each.system == name]) for name in systems]
    named = [name for name in groups(design, mine) if name]
    if len(named) > 1:
        parts += [(name, [each for each in mine if each.group == name]) for name in named]
    found = []
    for option in question.options:
        cells = []
        for _, chosen in parts:
            hits = sum(each.value == option.key for each in chosen)
            share = wilson_interval(hits, len(chosen))
            cells.append(f"{share.value:.1f}% [{share.low:.1f}, {share.high:.1f}]")
        found.append(row(option.key, *cells))
    note = f"Shares of {len(mine)} judgements with Wilson's 95% interval."
    header = ("", *(name for name, _ in parts))
    return Table(
        f"shares-{question.key}",
        f"{shown_label(question)}: shares",
        header,
        tuple(found),
        (note,),
        "PAL, section 3.2",
    )
