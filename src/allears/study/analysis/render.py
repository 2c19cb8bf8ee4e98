"""A table once, written three ways: Markdown, LaTeX, HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import isnan

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "†": r"$^\dagger$", "‡": r"$^\ddagger$",
    "–": "--", "<": r"$<$", ">": r"$>$", "×": r"$\times$", "✓": r"\checkmark{}", "✗": r"$\times$", "α": r"$\alpha$",
    "κ": r"$\kappa$",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TableCell:
    text: str
    bold: bool = False
    italic: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """`like`: which tables of the papers it looks like. The first `words` columns are text, the others numbers."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    notes: tuple[str, ...] = ()
    like: str = ""
    words: int = 1

    @property
    def caption(self) -> str:
        return f"{self.title} (as in {self.like})" if self.like else self.title


def row(*cells: str | TableCell) -> tuple[TableCell, ...]:
    return tuple(cell if isinstance(cell, TableCell) else TableCell(cell) for cell in cells)


def number(value: float, digits: int = 2) -> str:
    return "–" if isnan(value) else f"{value:.{digits}f}"


def percent(value: float, digits: int = 2) -> str:
    return "–" if isnan(value) else f"{100 * value:.{digits}f}%"


def p_value(value: float) -> str:
    if isnan(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def markdown(table: Table) -> str:
    def cell(each: TableCell) -> str:
        text = each.text.replace("|", "\\|").replace("\n", " ")
        text = f"**{text}**" if each.bold and text else text
        return f"*{text}*" if each.italic and text else text

    align = ["---" if place < table.words else "---:" for place in range(len(table.header))]
    lines = [f"### {table.caption}", "", _piped(table.header), _piped(align)]
    lines += [_piped([cell(each) for each in cells]) for cells in table.rows]
    lines += ["", *(f"{note}" for note in table.notes)] if table.notes else []
    return "\n".join([*lines, ""])


def _piped(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def latex(table: Table) -> str:
    def cell(each: TableCell) -> str:
        text = tex(each.text)
        text = rf"\textbf{{{text}}}" if each.bold and text else text
        return rf"\textit{{{text}}}" if each.italic and text else text

    columns = "l" * table.words + "r" * (len(table.header) - table.words)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(tex(name) for name in table.header) + r" \\",
        r"\midrule",
        *(" & ".join(cell(each) for each in cells) + r" \\" for cells in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{tex(' '.join([table.caption + '.', *table.notes]))}}}",
        rf"\label{{tab:{table.name}}}",
        r"\end{table}",
    ]
    return "\n".join([*lines, ""])


def tex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def html(table: Table) -> str:
    def cell(each: TableCell, place: int) -> str:
        text = escape(each.text)
        text = f"<strong>{text}</strong>" if each.bold else text
        text = f"<em>{text}</em>" if each.italic else text
        if place == 0:
            return f'<th scope="row">{text}</th>'
        return f"<td{_kind(place, table)}>{text}</td>"

    head = "".join(
        f'<th scope="col"{_kind(place, table)}>{escape(name)}</th>' for place, name in enumerate(table.header)
    )
    body = "\n".join(
        f"<tr>{''.join(cell(each, place) for place, each in enumerate(cells))}</tr>" for cells in table.rows
    )
    notes = "".join(f"<p>{escape(note)}</p>\n" for note in table.notes)
    return (
        f'<table id="{table.name}">\n<caption>{escape(table.caption)}</caption>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table>\n{notes}"
    )


def _kind(place: int, table: Table) -> str:
    return "" if place < table.words else ' class="number"'
