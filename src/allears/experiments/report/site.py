"""The pages as a static site: no scripts, nothing from elsewhere, readable in the dark."""

from __future__ import annotations

from html import escape

from allears.experiments.report.pages import PAPERS, SMALL_WARNING, Front, ReportPage, ReportTable, _time

STYLE = """
:root { color-scheme: light dark; --ink: #222; --quiet: #666; --line: #ddd; --warn: #b3541e; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --quiet: #999; --line: #444; --warn: #f0a070; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink); }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: 0.2rem 0.7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td { font-variant-numeric: tabular-nums; }
.small { color: var(--warn); font-weight: 600; } .quiet { color: var(--quiet); }
.badge { display: inline-block; border: 1px solid var(--line); border-radius: 0.3rem; padding: 0 0.5rem; }
img { max-width: 100%; background: white; } pre { overflow-x: auto; }
"""


def page_html(page: ReportPage) -> str:
    experiment, result = page.experiment, page.result
    parts = ['<p><a href="index.html">all tables</a></p>', f"<h1>{escape(experiment.title)}</h1>"]
    parts += [f"<p>{escape(experiment.question)}</p>"]
    if experiment.paper in PAPERS:
        parts.append(f'<p class="quiet">{escape(PAPERS[experiment.paper])}</p>')
    if result is None:
        parts.append(f"<p><strong>Not run yet.</strong> <code>{escape(page.commands[0])}</code></p>")
    elif result.small:
        parts.append(f'<p class="small">{escape(SMALL_WARNING)}</p>')
    if page.picture:
        parts.append(f'<img src="../{escape(page.picture)}" alt="{escape(experiment.title)}">')
    parts += [_table(table) for table in page.tables]
    if experiment.source:
        parts.append(f'<p class="quiet">Published numbers: {escape(experiment.source)}.</p>')
    if page.empty:
        items = "".join(f"<li>{escape(places)}: {escape(why)}</li>" for places, why in page.empty)
        parts.append(f"<h2>Empty cells</h2><ul>{items}</ul>")
    if page.verdicts:
        items = "".join(
            f"<li>{escape(each.claim.text)}: <strong>{each.word}</strong>"
            + (f". {escape(each.discussion)}" if each.discussion else "")
            + "</li>"
            for each in page.verdicts
        )
        parts.append(f"<h2>What the paper says</h2><ul>{items}</ul>")
    if experiment.differs:
        parts.append(
            f"<h2>What differs</h2><ul>{''.join(f'<li>{escape(e)}</li>' for e in experiment.differs)}</ul>"
        )
    if result is not None:
        commands = escape("\n".join(page.commands))
        kept = "".join(f"<p>{escape(each)}</p>" for each in page.kept)
        parts.append(
            f"<h2>How it was made</h2><p>{_time(result.seconds)} on {escape(result.hardware or 'a CPU')}</p>"
            f"{kept}<pre>{commands}</pre>"
        )
    return _document(experiment.title, parts)


def front_html(front: Front) -> str:
    parts = ["<h1>The papers' tables</h1>", f'<p class="badge">{escape(front.badge)}</p>']
    parts.append(f"<p>{escape(front.summary)}</p>")
    if front.small:
        parts.append(f'<p class="small">{escape(SMALL_WARNING)}</p>')
    rows = "".join(
        f'<tr><td>{escape(verdict.claim.text)}</td><td>{verdict.word}</td><td><a href="{experiment.name}.html">'
        f"{experiment.name}</a></td></tr>"
        for experiment, verdict in front.verdicts
    )
    parts.append(
        f"<h2>Which claims held</h2><table><tr><th>claim</th><th>here</th><th>where</th></tr>{rows}</table>"
    )
    if front.discussed:
        items = "".join(
            f"<li>{escape(each.claim.text)}: {escape(each.discussion)}</li>" for each in front.discussed
        )
        parts.append(f"<h2>What we make of those that did not hold</h2><ul>{items}</ul>")
    body = "".join(
        f'<tr><td><a href="{escape(row[0])}.html">{escape(row[0])}</a></td>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in front.contents.rows
    )
    head = "".join(f"<th>{escape(cell)}</th>" for cell in front.contents.heading)
    parts.append(f"<h2>All tables and figures</h2><table><tr>{head}</tr>{body}</table>")
    return _document("The papers' tables", parts)


def badge_svg(front: Front) -> str:
    text = escape(front.badge)
    width = 12 + 7 * len(front.badge)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{text}">'
        f'<rect width="{width}" height="20" rx="3" fill="#3d7ea6"/>'
        f'<text x="{width / 2:g}" y="14" fill="#fff" font-family="Verdana,sans-serif" font-size="11" '
        f'text-anchor="middle">{text}</text></svg>\n'
    )


def _table(table: ReportTable) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.heading)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _document(title: str, parts: list[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>\n<body>\n{body}\n</body></html>\n"
    )
