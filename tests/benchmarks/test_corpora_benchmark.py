from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "corpora.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_reading_stays_within_its_limits_on_a_made_up_file(tmp_path: Path):
    done = run("--root", str(tmp_path), "--repeats", "5", "--json")
    found = json.loads(done.stdout)
    assert found["read"].startswith("made up")
    assert found["time_ratio"] <= 3
    assert found["memory_ratio"] <= 1.1
    assert done.returncode == 0


@pytest.mark.corpus
def test_the_table_names_what_was_read(data_root: Path):
    done = run("--root", str(data_root), "--repeats", "1")
    assert "EmpatheticDialogues train" in done.stdout
    assert "bare csv.reader" in done.stdout
