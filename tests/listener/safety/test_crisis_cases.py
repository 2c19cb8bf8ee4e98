"""The written cases, the small head that learns from them, and the measures on them."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from allears.errors import AllearsError
from allears.evaluation.safety import evaluate_safety
from allears.safety.cases_file import SPLITS, Case, read_cases, shipped_cases
from allears.safety.dangers import LABELS, Danger
from allears.safety.ngram_head import NgramHead, shipped_head
from allears.safety.screen import CrisisScreen
from allears.training.safety.train_ngram_head import fit


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_has_every_label(split: str):
    assert {case.label for case in shipped_cases(split)} == set(LABELS)


def test_no_message_is_in_two_splits():
    seen: dict[str, str] = {}
    for split in SPLITS:
        for case in shipped_cases(split):
            plain = " ".join(case.text.lower().split())
            assert seen.setdefault(plain, split) == split, f"a case of {split} is also in {seen[plain]}"


def test_a_file_of_ones_own_is_read(tmp_path: Path):
    path = write(
        tmp_path / "own.jsonl", {"text": "hi", "label": "none"}, {"text": "x", "label": "abuse", "note": "n"}
    )
    assert read_cases(path) == (Case("hi", "none"), Case("x", "abuse", "n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"text": "hi"}\n', "line 1: expected"),
        ('{"text": "hi", "label": "none"}\nno json\n', "line 2: expected"),
        ('{"text": "hi", "label": "sad"}\n', "line 1: the label must be one of none, suicide"),
        ('{"text": 3, "label": "none"}\n', "line 1: the label"),
        ("[]\n", "line 1: expected"),
        ("\n", "no cases in it"),
    ],
)
def test_a_broken_file_is_one_sentence_with_the_line(tmp_path: Path, content: str, message: str):
    path = tmp_path / "own.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(AllearsError, match=message):
        read_cases(path)


def test_a_missing_file_or_split_is_an_error(tmp_path: Path):
    with pytest.raises(AllearsError, match="cannot read the safety cases"):
        read_cases(tmp_path / "nowhere.jsonl")
    with pytest.raises(AllearsError, match="no safety cases are called 'dev'"):
        shipped_cases("dev")


def test_the_report_counts_what_was_found_missed_and_raised_for_nothing():
    cases = [
        Case("I want to kill myself.", "suicide"),
        Case("The swallows are back.", "suicide"),
        Case("my husband hits me", "abuse"),
        Case("Nice weather today.", "none"),
        Case("I am going to kill my boss with a knife tonight", "none"),
    ]
    report = evaluate_safety(CrisisScreen(ngrams=lambda _: {"none": 0.5, "abuse": 0.5}), cases)
    assert (report.dangers, report.harmless) == (3, 2)
    assert report.recall.value == pytest.approx(200 / 3)
    assert report.recall.low < 200 / 3 < report.recall.high
    assert report.false_alarms.value == 50
    assert report.by_danger[Danger.ABUSE].value == 100
    assert report.by_danger[Danger.SUICIDE].value == 50
    assert [item.case.text for item in report.misses] == ["The swallows are back."]
    assert [item.case.label for item in report.alarms] == ["none"]
    assert report.only == {"patterns": 2, "ngrams": 0}
    assert report.together == 0
    assert report.layer_by_danger["patterns"][Danger.ABUSE].value == 100
    assert report.flat()["recall_abuse_patterns_alone"] == 100
    assert "recall_self_harm" not in report.flat()


def test_the_small_head_gives_a_probability_for_every_label():
    shares = shipped_head()("i want to kill myself")
    assert set(shares) == set(LABELS)
    assert sum(shares.values()) == pytest.approx(1, abs=1e-5)
    assert max(shares, key=shares.__getitem__) == "suicide"


def test_the_small_head_hears_danger_in_the_middle_of_a_long_message():
    chat = "we had soup and the neighbours came by with their dog and it was fine " * 30
    message = f"{chat} i want to kill myself {chat}"
    assert 1 - shipped_head()(message)["none"] > 1 - shipped_head()(chat)["none"]


def test_the_small_head_is_small():
    stored = files("allears.safety") / "ngram_head.npz"
    assert len(stored.read_bytes()) < 512 * 1024


def test_the_small_head_learns_from_cases():
    words = ["rope", "bridge", "pills", "grave"]
    cases = [Case(f"the {word} tonight", "suicide") for word in words] * 3
    cases += [Case(f"the {word} tonight", "none") for word in ("soup", "film", "choir", "match")] * 3
    weights, bias, idf = fit(cases)
    head = NgramHead(LABELS, weights.astype("f4"), bias.astype("f4"), idf.astype("f4"))
    assert head("the rope")["suicide"] > 0.5 > head("the soup")["suicide"]
    assert all(abs(a - b).max() == 0 for a, b in zip(fit(cases), (weights, bias, idf), strict=True))
