"""`allears study report`: all tables and pictures of a study, in Markdown, LaTeX and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from allears.study.analysis import render
from allears.study.analysis.annotations import annotation_tables
from allears.study.analysis.collected import collection_tables
from allears.study.analysis.judgements import Judgement, judgements
from allears.study.analysis.plots import plots
from allears.study.analysis.preferences import preference_tables
from allears.study.analysis.ratings import rating_tables
from allears.study.analysis.reliability import agreement_table, time_table
from allears.study.design import Design
from allears.study.frozen import Frozen
from allears.study.pairing import Pairing
from allears.study.rows import Count
from allears.study.store import Store

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 2rem 0 0.5rem; display: block; overflow-x: auto; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.5rem; }
th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid #ddd; text-align: left; font-weight: 400; }
thead th { border-bottom: 2px solid #444; font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
p { max-width: 45rem; color: #444; } img { max-width: 100%; }
"""


@dataclass(frozen=True, slots=True)
class StudyReport:
    title: str
    summary: str
    tables: tuple[render.Table, ...]
    judgements: tuple[Judgement, ...]


def build_report(design: Design, frozen: Frozen, store: Store) -> StudyReport:
    """Everything that the answers so far say."""
    if design.collects:
        talks = Pairing(store).conversations()
        return StudyReport(
            design.title,
            f"{len(talks)} conversations were collected.",
            tuple(collection_tables(talks)) if talks else (),
            (),
        )
    rows = judgements(design, frozen, store.answered())
    return StudyReport(
        design.title, _summary(store.count(), frozen), tuple(tables_of(design, rows)), tuple(rows)
    )


def tables_of(design: Design, rows: Sequence[Judgement]) -> list[render.Table]:
    if not rows:
        return []
    return [
        *rating_tables(design, rows),
        *preference_tables(design, rows),
        *annotation_tables(design, rows),
        agreement_table(design, rows),
        time_table(rows),
    ]


def write_report(report: StudyReport, design: Design, folder: Path) -> list[Path]:
    """`report.md`, `report.tex`, `report.html` and the pictures beside them. The files that were written."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = plots(design, report.judgements, folder / "plots") if report.judgements else []
    pictures = [(caption, path.relative_to(folder)) for caption, path in drawn]
    content = {
        "report.md": _markdown(report, pictures),
        "report.tex": _latex(report),
        "report.html": _html(report, pictures),
    }
    for name, text in content.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [*(folder / name for name in content), *(path for _, path in drawn)]


def _summary(count: Count, frozen: Frozen) -> str:
    text = (
        f"{count.counted} of {count.wanted} answers to {count.units} units by {count.raters} raters; "
        f"{count.screened} raters were screened out and {count.spare} answers were more than wanted; neither counts."
    )
    if frozen.not_fixed:
        text += f" What stands behind an address may have changed meanwhile: {', '.join(frozen.not_fixed)}."
    return text


def _markdown(report: StudyReport, pictures: Sequence[tuple[str, Path]]) -> str:
    parts = [f"# {report.title}", "", report.summary, ""]
    parts += [render.markdown(table) for table in report.tables]
    parts += [f"![{caption}]({path})\n" for caption, path in pictures]
    return "\n".join(parts)


def _latex(report: StudyReport) -> str:
    head = f"% {report.title}\n% {report.summary}\n% needs \\usepackage{{booktabs}} and \\usepackage{{amssymb}}\n"
    return "\n".join([head, *(render.latex(table) for table in report.tables)])


def _html(report: StudyReport, pictures: Sequence[tuple[str, Path]]) -> str:
    shown = "".join(
        f'<figure><img src="{escape(str(path))}" alt="{escape(caption)}"><figcaption>{escape(caption)}</figcaption>'
        "</figure>\n"
        for caption, path in pictures
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(report.title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        f"<h1>{escape(report.title)}</h1>\n<p>{escape(report.summary)}</p>\n"
        + "\n".join(render.html(table) for table in report.tables)
        + f"{shown}</body></html>\n"
    )
