"""What stands on the pages: one for each experiment, and the front page. Markdown and HTML are drawn from these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from allears.experiments.contract import Cell, Experiment, Plan, Result
from allears.experiments.runner import command_of
from allears.experiments.setting import Setting
from allears.experiments.verdicts import Verdict, VerdictWord, verdicts

SMALL_WARNING = (
    "Small run: tiny models with fresh weights, a few sentences, four steps of training. It shows that every number "
    "can be made; the numbers themselves say nothing about the papers."
)
PAPERS = {
    "PEC": "Zhong et al. 2020, Towards Persona-Based Empathetic Conversational Models",
    "ED": "Rashkin et al. 2019, Towards Empathetic Open-domain Conversation Models",
    "ModMoEL": "the third paper's system, Improving Empathetic Response Generation",
    "PAL": "Cheng et al. 2023, PAL: Persona-Augmented Emotional Support",
    "MIME": "Majumder et al. 2020, MIME: MIMicking Emotions",
}


HELD = (VerdictWord.HELD, VerdictWord.LEANS, VerdictWord.BARE)  # of a claim, more or less plainly


@dataclass(frozen=True, slots=True)
class ReportTable:
    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ReportPage:
    experiment: Experiment
    result: Result | None
    tables: tuple[ReportTable, ...]
    empty: tuple[tuple[str, str], ...]  # which cells are empty, and why
    verdicts: tuple[Verdict, ...]
    commands: tuple[str, ...]
    kept: tuple[str, ...] = ()  # sentences: which cells are of an earlier sitting
    picture: str = ""  # its file


@dataclass(frozen=True, slots=True)
class Front:
    summary: str
    badge: str
    small: bool
    run: int  # how many were run
    verdicts: tuple[tuple[Experiment, Verdict], ...]
    contents: ReportTable

    @property
    def discussed(self) -> list[Verdict]:
        """The claims that did not hold and that we say something about."""
        return [verdict for _, verdict in self.verdicts if verdict.discussion]


def number(value: float, decimals: int) -> str:
    """As many decimals as the table has; whole numbers from a thousand on, with commas."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{decimals}f}"


def build_page(experiment: Experiment, result: Result | None, picture: str = "") -> ReportPage:
    plan = experiment.plan(Setting(small=result is not None and result.small))
    columns = [*plan.columns]
    tables = tuple(
        _column_table(experiment, plan, column, result)
        for column in columns
        if any((row, column) in plan.asks or (row, column) in experiment.published for row in plan.rows)
    )
    return ReportPage(
        experiment, result, tables, _empty(experiment, plan, result), tuple(verdicts(experiment, result)),
        _commands(experiment, result), _kept(plan, result), picture,
    )  # fmt: skip


def _column_table(experiment: Experiment, plan: Plan, column: str, result: Result | None) -> ReportTable:
    """Ours, published and the difference of one column."""
    places = [(row, column) for row in plan.rows]
    published = any(place in experiment.published for place in places)
    texts = any(
        result is not None and isinstance(result.cells.get(place, Cell()).value, str) for place in places
    )
    heading = (
        "",
        column,
        *(() if texts else ("95% interval", "seeds")),
        *(("published",) if published else ()),
    )
    if published and not texts:
        heading = (*heading, "difference")
    rows = []
    for place in places:
        if place not in plan.asks and place not in experiment.published:
            continue
        rows.append(_row(experiment, place, result, published=published, texts=texts))
    return ReportTable(heading, tuple(rows))


def _row(
    experiment: Experiment, place: tuple[str, str], result: Result | None, *, published: bool, texts: bool
) -> tuple[str, ...]:
    decimals = experiment.decimals_of.get(place[1], experiment.decimals)
    cell = Cell(why="not run yet") if result is None else result.cells.get(place, Cell(why="not asked for"))
    theirs = experiment.published.get(place)
    small = result is not None and result.small
    shown = [place[0], _shown(cell, decimals)]
    if not texts:
        interval = "" if cell.low is None or cell.high is None else (
            f"{number(cell.low, decimals)} to {number(cell.high, decimals)}"
        )  # fmt: skip
        shown += [
            interval,
            ", ".join(number(each, decimals) for each in cell.seeds) if len(cell.seeds) > 1 else "",
        ]
    if published:
        shown.append(
            "" if theirs is None else theirs if isinstance(theirs, str) else number(theirs, decimals)
        )
    if published and not texts:
        # a small run's distance from a paper would look like a finding
        both = isinstance(cell.value, float | int) and isinstance(theirs, float | int) and not small
        shown.append(f"{float(cell.value or 0) - float(theirs or 0):+.{decimals}f}" if both else "")
    return tuple(shown)


def _shown(cell: Cell, decimals: int) -> str:
    if cell.value is None:
        return "not run yet" if cell.why == "not run yet" else "–"
    return cell.value if isinstance(cell.value, str) else number(cell.value, decimals)


def _empty(experiment: Experiment, plan: Plan, result: Result | None) -> tuple[tuple[str, str], ...]:
    """Empty cells with the same reason are told together."""
    if result is None:
        return ()
    by_reason: dict[str, list[str]] = {}
    for place in plan.asks:
        cell = result.cells.get(place, Cell(why="not asked for when this was run"))
        if cell.value is None:
            by_reason.setdefault(cell.why, []).append(f"{place[0]}: {place[1]}")
    return tuple((_some(places), why) for why, places in by_reason.items())


def _kept(plan: Plan, result: Result | None) -> tuple[str, ...]:
    """A sentence for each code that kept cells were measured with."""
    by_code: dict[str, list[str]] = {}
    for place in plan.asks:
        cell = result.cells.get(place, Cell()) if result else Cell()
        if cell.code:
            by_code.setdefault(cell.code, []).append(f"{place[0]}: {place[1]}")
    return tuple(
        f"{len(places)} {'cell was' if len(places) == 1 else 'cells were'} kept from an earlier sitting "
        f"(code {code}): {_some(places)}."
        for code, places in by_code.items()
    )


def _some(places: Sequence[str]) -> str:
    first = "; ".join(places[:6])
    return first if len(places) <= 6 else f"{first} and {len(places) - 6} more"


def _commands(experiment: Experiment, result: Result | None) -> tuple[str, ...]:
    first = command_of(experiment.name, small=False) if result is None else result.command
    return (first, *dict.fromkeys(step.command for step in (result.steps if result else ()) if step.command))


def build_front(experiments: Sequence[Experiment], results: Mapping[str, Result]) -> Front:
    found = [(each, verdict) for each in experiments for verdict in verdicts(each, results.get(each.name))]
    judged = sorted(
        found, key=lambda pair: list(VerdictWord).index(pair[1].word)
    )  # what held first, what was not run last
    counts = {word: sum(verdict.word is word for _, verdict in judged) for word in VerdictWord}
    run = [results[each.name] for each in experiments if each.name in results]
    filled = sum(cell.value is not None for result in run for cell in result.cells.values())
    asked = sum(len(result.cells) for result in run)
    small = any(result.small for result in run)
    summary = (
        f"{len(run)} of {len(experiments)} tables and figures were run, {filled} of {asked} cells have a value. "
        if run
        else f"None of the {len(experiments)} tables and figures was run yet. "
    ) + "Claims: " + ", ".join(f"{count} {word}" for word, count in counts.items() if count) + "."  # fmt: skip
    badge = (
        "results: small run"
        if small
        else f"claims: {sum(counts[word] for word in HELD)} of {len(judged)} held"
    )
    return Front(summary, badge, small, len(run), tuple(judged), _contents(experiments, results))


def _contents(experiments: Sequence[Experiment], results: Mapping[str, Result]) -> ReportTable:
    rows = []
    for each in experiments:
        result = results.get(each.name)
        cells = result.cells.values() if result else ()
        filled = (
            f"{sum(cell.value is not None for cell in cells)} of {len(cells)}" if result else "not run yet"
        )
        rows.append(
            (each.name, each.title, each.question, filled, _time(result.seconds) if result else "",
             result.hardware if result else "")
        )  # fmt: skip
    return ReportTable(("experiment", "where", "what it asks", "cells", "time", "hardware"), tuple(rows))


def _time(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.1f} h"
    )
