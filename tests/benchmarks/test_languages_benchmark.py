from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "languages.py"


@pytest.fixture(scope="module")
def benchmark() -> Any:
    specification = importlib.util.spec_from_file_location("languages_benchmark", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_false_alarms_and_misses_are_told_apart(benchmark: Any):
    german = "ich habe die ganze nacht nicht geschlafen"
    assert list(benchmark.false_alarms(["my dog is old", german])) == [("de", german)]
    assert list(benchmark.missed([("de", german), ("it", "che giornata")])) == [("it", "en", "che giornata")]


def test_sentences_of_five_words_and_scripts_without_blanks_are_long(benchmark: Any):
    assert benchmark.is_long("de", "ich bin heute so müde")
    assert not benchmark.is_long("de", "ich bin müde")
    assert benchmark.is_long("ja", "今日はすごく疲れた")


def test_the_table_marks_the_threshold_that_ships_and_lists_what_is_missed(
    benchmark: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(benchmark, "english_messages", lambda _: ["my dog is old", "ok"])
    assert benchmark.main(["--misses"]) == 0
    told = capsys.readouterr().out
    assert next(line for line in told.splitlines() if line.endswith("(ships)")).startswith("0.97 ")
    assert "missed  es (said to be en): mi jefe me gritó" in told
    assert benchmark.languages.SURELY_FOREIGN == 0.97
