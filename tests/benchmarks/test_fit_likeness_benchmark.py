"""The shipped numbers of `likeness.Likeness` are those that the judged answers give."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from allears.listener.answered.likeness import Likeness

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fit_likeness.py"


def test_the_fit_gives_the_shipped_numbers() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=True)
    for field in fields(Likeness):
        found = re.search(rf"^{field.name} (-?[\d.]+)$", done.stdout, re.MULTILINE)
        assert found is not None, field.name
        assert float(found[1]) == pytest.approx(getattr(Likeness(), field.name), abs=0.02)
