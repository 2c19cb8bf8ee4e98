"""The shipped numbers of `trust.Doubt` are those that the judged replies give."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from allears.listener.trust import Doubt

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fit_trust.py"


def test_the_fit_gives_the_shipped_numbers() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=True)
    start = re.search(r"^start (-?[\d.]+)", done.stdout, re.MULTILINE)
    assert start is not None
    assert float(start[1]) == pytest.approx(Doubt().start, abs=0.3)
    for name in ("near", "told", "length", "claimed"):
        found = re.search(rf"'{name}': (-?[\d.]+)", done.stdout)
        assert found is not None
        assert float(found[1]) == pytest.approx(getattr(Doubt(), name), abs=0.3)
