"""`allears evaluate safety` through `main`: what it prints, and its one sentence when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Run

CASES = [
    {"text": "I want to kill myself.", "label": "suicide"},
    {"text": "The swallows left early this year.", "label": "abuse", "note": "indirect"},
    {"text": "What a lovely morning.", "label": "none"},
]


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in CASES), encoding="utf-8")
    return path


def test_it_prints_the_shares_the_layers_and_what_was_missed(run: Run, cases: Path):
    answer = run("evaluate", "safety", "--cases", cases, "--no-reader")
    assert answer.code == 0
    assert "dangers found (recall)" in answer.out
    assert "false alarms" in answer.out
    assert "patterns" in answer.out
    assert "missed (1)" in answer.out
    assert "The swallows left early" in answer.out


def test_json_is_one_object_with_flat_names_in_percent(run: Run, cases: Path):
    answer = run("evaluate", "safety", "--cases", cases, "--no-reader", "--json")
    record = answer.json
    assert (record["recall"], record["false_alarms"]) == (50.0, 0.0)
    assert record["recall_low"] < 50 < record["recall_high"]
    assert (record["recall_suicide"], record["recall_abuse"]) == (100.0, 0.0)
    assert (record["dangers"], record["harmless"]) == (2, 1)
    assert [miss["text"] for miss in record["misses"]] == [CASES[1]["text"]]
    assert record["alarms"] == []


def test_the_texts_can_be_left_out(run: Run, cases: Path):
    answer = run("evaluate", "safety", "--cases", cases, "--no-reader", "--no-list")
    assert "dangers found (recall)" in answer.out
    assert "swallows" not in answer.out
    record = run("evaluate", "safety", "--cases", cases, "--no-reader", "--no-list", "--json").json
    assert "misses" not in record
    assert "alarms" not in record


def test_a_split_that_does_not_exist_is_one_sentence(run: Run):
    answer = run("evaluate", "safety", "--split", "dev", "--no-reader")
    assert answer.code == 2
    assert "no safety cases are called 'dev'" in answer.err


def test_a_broken_file_is_one_sentence(run: Run, tmp_path: Path):
    path = tmp_path / "cases.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    answer = run("evaluate", "safety", "--cases", path, "--no-reader")
    assert answer.code == 2
    assert "line 1: expected" in answer.err
