"""How well raters agree on each question, and how carefully they answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any

from allears.study.analysis.agreement import fleiss_kappa, in_words, krippendorff_alpha
from allears.study.analysis.judgements import Judgement
from allears.study.analysis.render import Table, number, row
from allears.study.blocks import Free, Likert, shown_label
from allears.study.design import Design


def rated_units(rows: Sequence[Judgement], question: str) -> list[list[Any]]:
    """The values of each unit (and system, where a unit shows two) in the order they came."""
    found: dict[tuple[str, str], list[Any]] = {}
    for each in rows:
        if each.question == question:
            found.setdefault((each.unit, each.system), []).append(each.value)
    return list(found.values())


def agreement_table(design: Design, rows: Sequence[Judgement]) -> Table:
    found = []
    for question in design.questions:
        if isinstance(question, Free):
            continue
        units = rated_units(rows, question.key)
        several = [unit for unit in units if len(unit) > 1]
        level = "ordinal" if isinstance(question, Likert) else "nominal"
        kappa, counted, most = float("nan"), 0, 0
        if several:
            # kappa wants as many raters everywhere: a fourth opinion is left to alpha
            sizes = Counter(map(len, several))
            most = max(sizes, key=lambda size: (sizes[size], size))
            same = [unit[:most] for unit in several if len(unit) >= most]
            kappa, counted = fleiss_kappa(same), len(same)
        alpha = krippendorff_alpha(units, level)
        found.append(
            row(
                shown_label(question),
                number(kappa, 3),
                in_words(kappa),
                str(counted),
                str(most),
                number(alpha, 3),
                level,
            )
        )
    notes = (
        "Kappa uses the first raters of each unit (as many as most units have) and takes answers as unordered; alpha "
        "uses all of them. Words are Landis and Koch's.",
    )
    header = ("", "Fleiss' κ", "Agreement", "Units", "Raters", "Krippendorff's α", "Level")
    return Table("agreement", "Agreement between raters", header, tuple(found), notes)


def time_table(rows: Sequence[Judgement]) -> Table:
    seconds = {(each.rater, each.unit): each.seconds for each in rows}
    per_rater = Counter(rater for rater, _ in seconds)
    values = sorted(seconds.values())
    cells = row(
        str(len(per_rater)),
        str(len(values)),
        number(median(per_rater.values()) if per_rater else float("nan"), 1),
        number(median(values) if values else float("nan"), 1),
        number(values[0] if values else float("nan"), 1),
    )
    header = (
        "Raters",
        "Answered units",
        "Units per rater (median)",
        "Seconds (median)",
        "Seconds (shortest)",
    )
    return Table("raters", "Who answered", header, (cells,), words=0)
