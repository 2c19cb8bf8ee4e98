"""Simulated raters of known quality go the whole way, many at once, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest
from study_making import CHAT, COLLECT, LIKERT, PREFERENCE, frozen_study, write_study

from allears.study.analysis.reliability import agreement_table
from allears.study.analysis.report import build_report
from allears.study.simulate import Crowd, dry_run, power_of, simulated_judgements
from allears.study.store import Store
from allears.study.units import build_units

CHECK = """
[checks]
every = 4
most_failed = 0
[[checks.items]]
turns = ["Hello."]
replies = ["One", "Two"]
expect = { better = "first" }
"""
LIVE = "".join(f'\n[[systems]]\nname = "{name}"\nendpoint = "http://a/v1"\nmodel = "m"\n' for name in "xy")


def test_fifty_at_once_leave_nothing_over_under_or_lost(url: str, tmp_path: Path):
    folder = write_study(
        tmp_path / "a", PREFERENCE, items=12, systems=["one", "three"], units=4, fourth="better", more=CHECK
    )
    design, frozen = frozen_study(folder)
    found = dry_run(design, frozen, url, Crowd(50, quality=0.7, careless=0.2, leaving=0.05))
    assert found.is_well, found
    assert found.answers == found.wanted == 36 + found.fourth
    assert found.raters > 9
    assert found.screened > 0


def test_careless_raters_are_screened_out(sqlite_url: str, tmp_path: Path):
    folder = write_study(tmp_path / "a", PREFERENCE, items=6, systems=["one", "three"], units=4, more=CHECK)
    design, frozen = frozen_study(folder)
    found = dry_run(design, frozen, sqlite_url, Crowd(8, quality=1.0, careless=0.5))
    assert found.is_well
    assert found.screened > 0


def test_a_chat_is_tried_without_opening_a_model(sqlite_url: str, tmp_path: Path):
    design, frozen = frozen_study(write_study(tmp_path / "a", CHAT, items=3, per_unit=1, units=1, more=LIVE))
    found = dry_run(design, frozen, sqlite_url, Crowd(3))
    assert (found.is_well, found.answers) == (True, 3)


def test_collecting_is_tried_with_pairs(sqlite_url: str, tmp_path: Path):
    design, frozen = frozen_study(write_study(tmp_path / "a", COLLECT))
    found = dry_run(design, frozen, sqlite_url, Crowd(6))
    assert found.conversations == 6


def test_a_report_on_a_dry_run_finds_the_better_system(sqlite_url: str, tmp_path: Path):
    folder = write_study(tmp_path / "a", LIKERT, items=20, systems=["one", "three"], units=20)
    design, frozen = frozen_study(folder)
    dry_run(design, frozen, sqlite_url, Crowd(10, quality=1.0), effect=2.0)
    with Store(sqlite_url, design, build_units(design, frozen), frozen.digest) as store:
        report = build_report(design, frozen, store)
    tables = {table.name: table for table in report.tables}
    assert "120 of 120 answers" in report.summary
    assert tables["ratings-tests"].rows[0][1].text == "one > three"
    assert tables["ratings-tests"].rows[0][5].bold


def test_better_raters_agree_more(tmp_path: Path):
    design, frozen = frozen_study(write_study(tmp_path / "a", LIKERT, items=30, systems=["one", "three"]))
    alphas = []
    for quality in (0.0, 0.5, 1.0):
        rows = simulated_judgements(design, frozen, Crowd(quality=quality), effect=0.5, seed=3)
        alphas.append(float(agreement_table(design, rows).rows[0][5].text))
    assert alphas == sorted(alphas)
    assert abs(alphas[0]) < 0.2 < alphas[2]


def test_power_grows_with_the_effect_and_is_small_without_one(tmp_path: Path):
    design, frozen = frozen_study(write_study(tmp_path / "a", LIKERT, items=12, systems=["one", "three"]))
    shares = [
        power_of(design, frozen, Crowd(), effect=effect, studies=40)[0].share for effect in (0.0, 0.4, 1.5)
    ]
    assert shares[0] < 0.2 < shares[2]
    assert shares == sorted(shares)


def test_the_power_of_a_preference_is_told_for_each_pair(tmp_path: Path):
    folder = write_study(tmp_path / "a", PREFERENCE, items=12, systems=["one", "three", "eleven"])
    design, frozen = frozen_study(folder)
    found = power_of(design, frozen, Crowd(quality=1.0), effect=2.5, studies=10)
    assert {(each.better, each.worse): each.share for each in found} == pytest.approx(
        {("one", "three"): 0.9, ("one", "eleven"): 1.0, ("three", "eleven"): 0.9}, abs=0.35
    )
