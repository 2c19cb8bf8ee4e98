from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "reading.py"
TINY = ["--small", "--rounds", "3", "--threads", "1", "--json"]


@pytest.fixture(scope="module")
def benchmark() -> Any:
    specification = importlib.util.spec_from_file_location("reading_benchmark", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_a_reading_of_a_hundred_tokens_is_measured_against_a_bare_pass(
    benchmark: Any, capsys: pytest.CaptureFixture[str]
):
    assert benchmark.main(TINY) == 0
    found = json.loads(capsys.readouterr().out)
    assert 90 < found["tokens"] <= 100
    assert found["heads"] == 15
    assert found["ratio"] == pytest.approx(found["reading_ms"] / found["bare_ms"])
    assert min(found["bare_ms"], found["reading_ms"], found["from_states_ms"]) > 0
    assert bool(found["broken_limits"]) == (found["ratio"] > 1.2)


def test_the_best_round_counts_and_the_works_take_turns(benchmark: Any, monkeypatch: pytest.MonkeyPatch):
    done: list[str] = []
    clock = iter([0, 5, 10, 11, 20, 22, 30, 37])  # two rounds of two works: 5 and 1, then 2 and 7
    monkeypatch.setattr(benchmark.time, "perf_counter", lambda: next(clock))
    found = benchmark.take_turns((lambda: done.append("a"), lambda: done.append("b")), rounds=2)
    assert found == [2, 1]
    assert done == ["a", "b"] * 3  # the first of each is to warm up


def test_check_decides_the_exit_code(benchmark: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(benchmark, "measure", lambda *_: {"broken_limits": ["too slow"]})
    assert benchmark.main([*TINY, "--check"]) == 1
    assert benchmark.main(TINY) == 0


def test_a_bundle_that_is_not_there_is_one_sentence(benchmark: Any, capsys: pytest.CaptureFixture[str]):
    assert benchmark.main(["--bundle", "no/such/folder"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "no/such/folder: no bundle.json here" in said


def test_the_table_shows_the_ratio(benchmark: Any, capsys: pytest.CaptureFixture[str]):
    assert benchmark.main([*TINY[:-1]]) == 0
    assert "times a bare pass" in capsys.readouterr().out
