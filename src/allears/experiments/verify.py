"""Do the numbers in the documentation come from `results.json`? Every difference is a sentence with its place.

Checked are: the seals of the records; every page of the report, line by line; what the pictures were drawn from; and
single numbers quoted elsewhere between marks:

    <!-- result pec-table-5 | CoBERT | R@1 -->49.4<!-- /result -->
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from allears.errors import AllearsError
from allears.experiments.contract import Experiment, Result
from allears.experiments.report.pages import number
from allears.experiments.report.pictures import numbers_digest
from allears.experiments.report.writing import picture_name, report_files
from allears.experiments.store import read_results, seal_problem

QUOTED = re.compile(r"<!-- result ([\w-]+) \| (.+?) \| (.+?) -->(.*?)<!-- /result -->", re.DOTALL)
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def verify(
    experiments: Sequence[Experiment], results_file: Path, folder: Path, pages: Sequence[Path]
) -> list[str]:
    """Every problem, in words; none is fine."""
    if results_file.is_file():
        records = json.loads(results_file.read_text(encoding="utf-8")).get("experiments", {})
        broken = [
            text for name, record in records.items() if (text := seal_problem(results_file, name, record))
        ]
        if broken:
            return broken
    results = read_results(results_file)
    return [
        *_report_problems(experiments, results, folder),
        *(problem for page in pages for problem in _quoted_problems(experiments, results, page)),
    ]


def _report_problems(
    experiments: Sequence[Experiment], results: Mapping[str, Result], folder: Path
) -> list[str]:
    problems = []
    pictures = set()
    for experiment in experiments:
        path, result = folder / picture_name(experiment), results.get(experiment.name)
        if not path.is_file():
            continue
        pictures.add(path.name)
        if result is None or numbers_digest(experiment, result) not in path.read_text(encoding="utf-8"):
            problems.append(f"{path}: was drawn from other numbers than those in results.json")
    for name, wanted in report_files(experiments, results, frozenset(pictures)).items():
        path = folder / name
        if not path.is_file():
            problems.append(f"{path}: is missing; `allears experiment report` writes it")
            continue
        there = path.read_text(encoding="utf-8").splitlines()
        pairs = zip_longest(there, wanted.splitlines())
        for line, (found, right) in enumerate(pairs, start=1):
            if found != right:
                problems.append(f"{path}, line {line}: says {found!r}, but results.json says {right!r}")
                break
    return problems


def _quoted_problems(
    experiments: Sequence[Experiment], results: Mapping[str, Result], page: Path
) -> list[str]:
    by_name = {experiment.name: experiment for experiment in experiments}
    # what stands in a block of code shows how to quote; it quotes nothing
    text = FENCED.sub(lambda block: "\n" * block[0].count("\n"), page.read_text(encoding="utf-8"))
    problems = []
    for match in QUOTED.finditer(text):
        name, row, column, said = (part.strip() for part in match.groups())
        line = text.count("\n", 0, match.start()) + 1
        experiment, result = by_name.get(name), results.get(name)
        cell = result.cells.get((row, column)) if result else None
        if experiment is None or cell is None or cell.value is None:
            problems.append(
                f"{page}, line {line}: quotes {name}, {row}, {column}, which results.json does not have"
            )
            continue
        decimals = experiment.decimals_of.get(column, experiment.decimals)
        right = cell.value if isinstance(cell.value, str) else number(cell.value, decimals)
        if said != right:
            problems.append(
                f"{page}, line {line}: says {said} for {name}, {row}, {column}; results.json says {right}"
            )
    return problems


def documentation_pages(folder: Path) -> list[Path]:
    """README.md and every page under docs/ that could quote a number."""
    pages = [folder / "README.md", *sorted((folder / "docs").rglob("*.md"))]
    found = [page for page in pages if page.is_file()]
    if not found:
        raise AllearsError(f"{folder}: there is no documentation here; run this in a checkout of allears")
    return found
