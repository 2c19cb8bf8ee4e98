"""`allears evaluate safety` through `main`: what it prints, and its one sentence when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from allears.cli import evaluate_safety
from allears.conversation import Role, Turn
from allears.safety.cases_file import Case, SafetyTalk, read_cases
from allears.safety.screen import CrisisScreen
from command_line import Run
from made_up_danger import screen_that

CASES = [
    {"text": "The rope is there.", "label": "suicide", "note": "first message"},
    {"text": "The swallows left early this year.", "label": "abuse", "note": "indirect"},
    {
        "turns": [
            {"speaker": "seeker", "text": "hi"},
            {"speaker": "supporter", "text": "Hello."},
            {"speaker": "seeker", "text": "What a lovely morning."},
        ],
        "label": "none",
    },
    {"text": "I am tired of the rain.", "label": "none"},
]


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in CASES), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The bundles whose screens were opened; each sees a rope, and a doubt where somebody is tired."""
    asked: list[str] = []

    def from_bundle(cls: type, bundle: str = "default") -> CrisisScreen:
        asked.append(bundle)
        return screen_that({"rope": {"suicide": 0.9}, "tired": {"doubt": 0.7}})

    monkeypatch.setattr(CrisisScreen, "from_bundle", classmethod(from_bundle))
    return asked


def test_it_prints_the_shares_and_what_was_missed_or_raised_for_nothing(run: Run, cases: Path):
    answer = run("evaluate", "safety", "--cases", cases)
    assert answer.code == 0
    assert "dangers found (recall)" in answer.out
    assert "false alarms" in answer.out
    assert "what makes it hard" in answer.out
    assert "missed (1)" in answer.out
    assert "The swallows left early" in answer.out
    assert "false alarms (1)" in answer.out
    assert "I am tired of the rain." in answer.out


def test_json_is_one_object_with_flat_names_in_percent(run: Run, cases: Path, opened: list[str]):
    record = run("evaluate", "safety", "--cases", cases, "--bundle", "bundles/mine", "--json").json
    assert (record["recall"], record["false_alarms"], record["false_clear"]) == (50.0, 50.0, 0.0)
    assert record["recall_low"] < 50 < record["recall_high"]
    assert (record["recall_suicide"], record["recall_abuse"]) == (100.0, 0.0)
    assert (record["dangers"], record["harmless"]) == (2, 2)
    assert [miss["text"] for miss in record["misses"]] == [CASES[1]["text"]]
    assert [(alarm["text"], alarm["level"]) for alarm in record["alarms"]] == [(CASES[3]["text"], "doubt")]
    assert record["bundle"] == "bundles/mine"
    assert opened == ["bundles/mine"]


def test_the_shipped_cases_are_measured_message_by_message_and_talk_by_talk(
    run: Run, cases: Path, monkeypatch: pytest.MonkeyPatch
):
    def some_cases(split: str) -> tuple[Case, ...]:
        assert split == "valid"
        return read_cases(cases)

    def some_talks(split: str) -> tuple[SafetyTalk, ...]:
        first, _, third, _ = read_cases(cases)
        assert split == "valid"
        return (
            SafetyTalk(
                "a", (*third.before, Turn(Role.SEEKER, first.text)), "clear", "suicide", "third message"
            ),
            SafetyTalk("b", (*third.before, Turn(Role.SEEKER, third.text)), "none"),
        )

    monkeypatch.setattr(evaluate_safety, "shipped_cases", some_cases)
    monkeypatch.setattr(evaluate_safety, "shipped_talks", some_talks)
    record = run("evaluate", "safety", "--split", "valid", "--json").json
    assert (record["recall"], record["talks_recall"], record["talks_false_alarms"]) == (50.0, 100.0, 0.0)
    assert (record["talks_dangers"], record["talks_harmless"], record["talks_misses"]) == (1, 1, [])
    printed = run("evaluate", "safety", "--split", "valid").out
    assert "shipped valid cases (%" in printed
    assert "shipped valid cases, whole conversations" in printed


def test_the_texts_can_be_left_out(run: Run, cases: Path):
    answer = run("evaluate", "safety", "--cases", cases, "--no-list")
    assert "dangers found (recall)" in answer.out
    assert "swallows" not in answer.out
    record = run("evaluate", "safety", "--cases", cases, "--no-list", "--json").json
    assert "misses" not in record
    assert "alarms" not in record


def test_a_split_that_does_not_exist_is_one_sentence(run: Run):
    answer = run("evaluate", "safety", "--split", "dev")
    assert answer.code == 2
    assert "no safety cases are called 'dev'" in answer.err


def test_a_broken_file_is_one_sentence(run: Run, tmp_path: Path):
    path = tmp_path / "cases.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    answer = run("evaluate", "safety", "--cases", path)
    assert answer.code == 2
    assert "line 1: expected" in answer.err
