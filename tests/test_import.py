"""`import allears` is for the light runtime: it must not drag in what only training needs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "pandas")


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "statement",
    ["import allears", "import allears.corpora", "from allears.corpora import corpus; corpus('ed')"],
)
def test_nothing_heavy_is_imported(statement: str):
    found = run(f"{statement}\nimport sys\nprint(*[name for name in {HEAVY} if name in sys.modules])")
    assert found.split() == []


def seconds_to_import(name: str) -> float:
    code = f"import time; start = time.perf_counter(); import {name}; print(time.perf_counter() - start)"
    return min(float(run(code)) for _ in range(3))


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_importing_allears_takes_less_than_a_tenth_of_importing_torch():
    assert seconds_to_import("allears") < seconds_to_import("torch") / 10
