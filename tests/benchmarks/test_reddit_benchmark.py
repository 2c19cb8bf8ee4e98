"""The benchmark of the Reddit builder measures what it says, and knows a broken limit."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "reddit.py"


def test_a_made_up_dump_is_built_and_measured():
    command = [
        sys.executable,
        str(SCRIPT),
        "--made-up",
        "--times",
        "1",
        "--turns",
        "1",
        "--deep",
        "200",
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    assert found["read"] == "made up"
    assert found["conversations"] > 1_000
    assert 0 < found["bare_seconds"] < found["build_seconds"]
    assert found["memory_gib"] < 4
    assert found["deep_conversations"] == 200
    # So small a dump has little to spread the start of the engine over; nothing else may be over its limit.
    assert [line for line in found["broken"] if not line.startswith("time_ratio")] == []
    assert done.returncode == (1 if found["broken"] else 0)


@pytest.mark.parametrize(
    ("found", "broken"),
    [
        ({"time_ratio": 24.0, "growth": 11.0, "memory_gib": 1.0, "grown_memory_gib": 2.0}, 0),
        ({"time_ratio": 26.0, "growth": 13.0, "memory_gib": 5.0, "grown_memory_gib": 5.0}, 4),
        ({"time_ratio": 1.0, "memory_gib": 1.0, "same_rows": False}, 1),
        # under 4 GiB, but more than DuckDB and the persona table account for
        ({"grown_memory_gib": 2.0, "expected_memory_gib": 1.0}, 1),
    ],
)
def test_broken_limits_are_told(found: dict[str, Any], broken: int):
    spec = importlib.util.spec_from_file_location("reddit_benchmark", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(module.broken_limits(found)) == broken
