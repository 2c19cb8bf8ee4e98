"""The benchmark of beam search: both ways find the same words, and its limit is read from its own numbers."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "beam.py"
SMALL = {"size": 24, "layers": 1, "heads": 2, "inner": 32, "dropout": 0.0}


@pytest.fixture
def beam() -> ModuleType:
    spec = importlib.util.spec_from_file_location("beam_benchmark", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["transformer", "moel"])
def test_both_ways_find_the_same_words(beam: ModuleType, name: str) -> None:
    model, asked = beam.generator(name, 60, "cpu", **SMALL), beam.prompts(3, 60)
    fast, slow = beam.batched(model, asked), beam.loop(model, asked)
    assert [each.tokens for each in fast] == [each.tokens for each in slow]
    assert all(len(each.tokens) == beam.LONGEST for each in fast)


def test_a_broken_limit_is_said(
    beam: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"prompts": 1.0, "batched_ms": 1.0, "loop_ms": 9.0, "ratio": 9.0, "same": 100.0}
    monkeypatch.setattr(beam, "compare", lambda name, **_: row)
    assert beam.main(["--check", "--json"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["moel"]["ratio"] == 9.0
    assert "at least 10 times" in said.err
