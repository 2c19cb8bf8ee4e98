"""All files of the report, as texts: `report` writes them, `verify` compares them with what is there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from allears.experiments.contract import Experiment, Result
from allears.experiments.report.markdown import front_markdown, page_markdown
from allears.experiments.report.pages import build_front, build_page
from allears.experiments.report.pictures import save_figure
from allears.experiments.report.site import badge_svg, front_html, page_html

SITE = "site"


def report_files(
    experiments: Sequence[Experiment], results: Mapping[str, Result], pictures: frozenset[str]
) -> dict[str, str]:
    """Name and content of every text file. `pictures`: the figures that were drawn."""
    front = build_front(experiments, results)
    files = {
        "index.md": front_markdown(front),
        f"{SITE}/index.html": front_html(front),
        "badge.svg": badge_svg(front),
        "badge.json": json.dumps(
            {"schemaVersion": 1, "label": "papers", "message": front.badge, "color": "blue"}, indent=1
        )
        + "\n",
    }
    for experiment in experiments:
        picture = picture_name(experiment)
        drawn = picture if picture in pictures else ""
        page = build_page(experiment, results.get(experiment.name), drawn)
        files[f"{experiment.name}.md"] = page_markdown(page)
        files[f"{SITE}/{experiment.name}.html"] = page_html(page)
    return files


def picture_name(experiment: Experiment) -> str:
    return f"{experiment.name}.svg"


def write_report(
    experiments: Sequence[Experiment], results: Mapping[str, Result], folder: Path
) -> list[Path]:
    """The files that were written."""
    (folder / SITE).mkdir(parents=True, exist_ok=True)
    drawn = []
    for experiment in experiments:
        path = folder / picture_name(experiment)
        result = results.get(experiment.name)
        if result is not None and save_figure(experiment, result, path):
            drawn.append(path)
        else:
            path.unlink(missing_ok=True)
    files = report_files(experiments, results, frozenset(path.name for path in drawn))
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [*(folder / name for name in files), *drawn]
