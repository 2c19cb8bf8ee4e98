"""The pages as Markdown, for docs/results/."""

from __future__ import annotations

from allears.experiments.report.pages import PAPERS, SMALL_WARNING, Front, ReportPage, ReportTable, _time

MADE = "<!-- made by `allears experiment report`; do not edit: `allears experiment verify` compares it -->"


def page_markdown(page: ReportPage) -> str:
    experiment, result = page.experiment, page.result
    lines = [MADE, "", f"# {experiment.title}", "", experiment.question, ""]
    lines += [f"*{PAPERS[experiment.paper]}.*", ""] if experiment.paper in PAPERS else []
    if result is None:
        lines += [f"**Not run yet.** `{page.commands[0]}`", ""]
    elif result.small:
        lines += [f"**{SMALL_WARNING}**", ""]
    if page.picture:
        lines += [f"![{experiment.title}]({page.picture})", ""]
    for table in page.tables:
        lines += [*_table(table), ""]
    if experiment.source:
        lines += [f"Published numbers: {_safe(experiment.source)}.", ""]
    if page.empty:
        lines += ["## Empty cells", ""]
        lines += [f"- {_safe(places)}: {_safe(why)}" for places, why in page.empty]
        lines.append("")
    if page.verdicts:
        lines += ["## What the paper says", ""]
        lines += [
            f"- {_safe(each.claim.text)}: **{each.word}**{_numbers(each.numbers)}"
            + (f". {_safe(each.discussion)}" if each.discussion else "")
            for each in page.verdicts
        ]
        lines.append("")
    if experiment.differs:
        lines += ["## What differs", "", *(f"- {_safe(each)}" for each in experiment.differs), ""]
    if result is not None:
        lines += ["## How it was made", ""]
        versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
        lines += [
            f"{_time(result.seconds)} on {result.hardware or 'a CPU'}; {versions}; code {result.code}.",
            "",
        ]
        for kept in page.kept:
            lines += [_safe(kept), ""]
        lines += ["```bash", *page.commands, "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def front_markdown(front: Front) -> str:
    lines = [MADE, "", "# The papers' tables", "", front.summary, ""]
    if front.small:
        lines += [f"**{SMALL_WARNING}**", ""]
    lines += ["## Which claims held", ""]
    if front.verdicts:
        lines += ["| claim | here | where |", "| --- | --- | --- |"]
        lines += [
            f"| {_safe(verdict.claim.text)} | {verdict.word}{_numbers(verdict.numbers)} | "
            f"[{experiment.name}]({experiment.name}.md) |"
            for experiment, verdict in front.verdicts
        ]
    lines.append("")
    if front.discussed:
        lines += ["## What we make of those that did not hold", ""]
        lines += [f"- {_safe(each.claim.text)}: {_safe(each.discussion)}" for each in front.discussed]
        lines.append("")
    lines += ["## All tables and figures", ""]
    linked = ReportTable(
        front.contents.heading,
        tuple((f"[{row[0]}]({row[0]}.md)", *map(_safe, row[1:])) for row in front.contents.rows),
    )
    lines += [*_table(linked, safe=True), ""]
    if front.run:
        lines += ["The same for machines: [results.json](results.json).", ""]
    lines += ["How to run them, and what the words mean: `docs/experiments.md`.", ""]
    return "\n".join(lines)


def _table(table: ReportTable, *, safe: bool = False) -> list[str]:
    clean = (lambda text: text) if safe else _safe
    head = "| " + " | ".join(map(_safe, table.heading)) + " |"
    rule = "| " + " | ".join("---" for _ in table.heading) + " |"
    return [head, rule, *("| " + " | ".join(map(clean, row)) + " |" for row in table.rows)]


def _numbers(numbers: tuple[float | None, ...]) -> str:
    known = ["?" if each is None else f"{each:.4g}" for each in numbers]
    return f" ({', '.join(known)})" if known else ""


def _safe(text: str) -> str:
    """A text inside a table or a list: no line breaks, no pipes, no tags."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
