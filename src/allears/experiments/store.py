"""`results.json`: every result, sealed, so that a number that was typed in by hand is noticed."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from allears.errors import AllearsError
from allears.experiments.contract import Cell, Done, Result
from allears.experiments.fingerprints import digest
from allears.experiments.lab import write_whole

RESULTS = "results.json"
VERSION = 1


def plain(result: Result) -> dict[str, Any]:
    record: dict[str, Any] = {
        "small": result.small,
        "command": result.command,
        "seconds": round(result.seconds, 1),
        "hardware": result.hardware,
        "code": result.code,
        "versions": dict(result.versions),
        "cells": [
            {"row": row, "column": column, **cell.plain()} for (row, column), cell in result.cells.items()
        ],
        "steps": [asdict(step) for step in result.steps],
    }
    return record | {"seal": digest(record)}


def from_plain(name: str, record: dict[str, Any]) -> Result:
    return Result(
        name, record["small"], record["command"],
        {(cell["row"], cell["column"]): Cell.read(cell) for cell in record["cells"]},
        tuple(Done(**step) for step in record["steps"]), record["code"], record["versions"],
    )  # fmt: skip


def read_results(path: Path) -> dict[str, Result]:
    """By the experiments' names; none where there is no file. A record whose seal is broken is refused."""
    if not path.is_file():
        return {}
    records = _records(path)
    for name in records:
        if broken := seal_problem(path, name, records[name]):
            raise AllearsError(broken)
    return {name: from_plain(name, record) for name, record in records.items()}


def seal_problem(path: Path, name: str, record: dict[str, Any]) -> str:
    without = {key: value for key, value in record.items() if key != "seal"}
    if record.get("seal") == digest(without):
        return ""
    return f"{path}: the record of {name} was changed by hand; make it anew with `{record.get('command', 'allears')}`"


def keep_result(path: Path, result: Result) -> None:
    """Add or replace one result. Small and full results never share a file."""
    records = _records(path) if path.is_file() else {}
    others = {name: record for name, record in records.items() if record["small"] != result.small}
    if others:
        kind = "full" if result.small else "small"
        raise AllearsError(f"{path}: holds {kind} results already; keep the two apart with another --results")
    path.parent.mkdir(parents=True, exist_ok=True)
    records[result.experiment] = plain(result)
    write_whole(path, {"version": VERSION, "experiments": dict(sorted(records.items()))})


def _records(path: Path) -> dict[str, dict[str, Any]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        records: dict[str, dict[str, Any]] = content["experiments"]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise AllearsError(f"{path}: not a file that `allears experiment run` wrote ({error})") from error
    return records
