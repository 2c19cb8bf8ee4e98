"""`allears study` from the first file to the report, the way a person types it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from study_making import PREFERENCE, frozen_study, item, open_store, ready_rater, side_of, write_study

from allears.study.design import SHIPPED
from command_line import Run, run  # noqa: F401


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = write_study(tmp_path / "eggs", PREFERENCE, systems=["one", "three"], items=2, fourth="better")
    frozen_study(made)
    with open_store(str(made / "answers.db"), made) as store:
        for vote in ("one", "one", "tie"):
            rater = ready_rater(store)
            while (given := store.next(rater)) is not None:
                store.answer(rater, given.key, {"better": side_of(given, vote)})
    return made


@pytest.mark.parametrize("name", SHIPPED)
def test_new_writes_a_study_that_is_never_overwritten(run: Run, tmp_path: Path, name: str):  # noqa: F811
    assert run("study", "new", name, tmp_path / "a").code == 0
    again = run("study", "new", name, tmp_path / "a")
    assert again.code == 2
    assert "there is a study already" in again.err


def test_check_freeze_and_dry_run(run: Run, tmp_path: Path):  # noqa: F811
    made = write_study(tmp_path / "eggs", PREFERENCE, systems=["one", "three"], items=3, units=3)
    assert "not frozen yet" in run("study", "check", made).err
    assert "3 items and 6 outputs are frozen" in run("study", "freeze", made).err
    assert "3 units x 3 raters = 9 answers: 3 raters" in run("study", "check", made).err
    tried = run("study", "dry-run", made, "--raters", 5, "--studies", 3, "--out", tmp_path / "report")
    assert tried.code == 0, tried.err
    assert "answers lost: 0" in tried.err
    assert "found in 3 studies" in tried.out
    assert (tmp_path / "report" / "report.tex").is_file()
    assert not (made / "answers.db").exists()


def test_report_prints_the_tables_and_writes_the_files(run: Run, folder: Path):  # noqa: F811
    told = run("study", "report", folder)
    assert told.code == 0, told.err
    assert "6 of 6 answers to 2 units by 3 raters" in told.out
    assert "| one vs. three | **100.00%** | 0.00% | 0.00% |" in told.out
    assert sorted(path.name for path in (folder / "report").iterdir()) == [
        "plots",
        "report.html",
        "report.md",
        "report.tex",
    ]


def test_export_and_withdraw(run: Run, folder: Path):  # noqa: F811
    assert run("study", "export", folder, "--out", folder / "data").code == 0
    rows = [json.loads(line) for line in (folder / "data" / "answers.jsonl").read_text().splitlines()]
    assert len(rows) == 6
    gone = run("study", "withdraw", folder, rows[0]["rater"], "--yes")
    assert "deleted: 2 answers" in gone.err
    assert "4 of 6 answers" in run("study", "check", folder).err
    missing = run("study", "withdraw", folder, "nobody", "--yes")
    assert (missing.code, "there is no rater 'nobody'" in missing.err) == (2, True)


def test_people_lists_raters_and_makes_links(run: Run, folder: Path):  # noqa: F811
    links = run("study", "people", folder, "--add", 3, "--address", "https://study.example.org/").out.split()
    assert len(set(links)) == 3
    assert all(link.startswith("https://study.example.org/study#link=") for link in links)
    told = run("study", "people", folder)
    assert told.out.count("ready") == 3
    assert told.out.count("new") == 3
    with open_store(str(folder / "answers.db"), folder) as store:
        assert store.rater(links[0].partition("link=")[2]).state == "new"


def test_a_study_whose_outputs_changed_is_not_served(run: Run, folder: Path):  # noqa: F811
    outputs = folder / "one.jsonl"
    outputs.write_text(outputs.read_text().replace("good", "bad"))
    told = run("study", "serve", folder)
    assert told.code == 2
    assert "the system 'one' changed since the study was frozen" in told.err
    outputs.unlink()
    assert run("study", "report", folder).code == 0  # what people judged is still there


def test_nothing_is_done_with_frozen_outputs_that_changed(run: Run, folder: Path):  # noqa: F811
    frozen = folder / "frozen" / "outputs.jsonl"
    frozen.write_text(frozen.read_text().replace("good", "bad"))
    for command in ("serve", "report", "export", "people"):
        told = run("study", command, folder)
        assert (told.code, "it changed since the study was frozen" in told.err) == (2, True)


def test_serve_opens_the_study_and_prints_the_open_link(folder: Path):
    command = [sys.executable, "-m", "allears", "study", "serve", str(folder), "--port", "0", "--quiet"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            link = process.stderr.readline().strip()
            address, _, token = link.partition("/study#open=")
            entered = httpx.post(f"{address}/api/study/enter", json={"open": token}, timeout=20)
            assert entered.status_code == 200, (link, entered.text)
        finally:
            process.kill()


def test_mistakes_are_one_sentence(run: Run, tmp_path: Path):  # noqa: F811
    assert "allears study new likert" in run("study", "check", tmp_path).err
    assert "there is no design 'liket'" in run("study", "new", "liket", tmp_path / "a").err
    made = write_study(tmp_path / "eggs", PREFERENCE, systems=["one"], items=[item(0), item(0)])
    assert "the id 'item-0' comes twice" in run("study", "freeze", made).err
    made = write_study(tmp_path / "hens", PREFERENCE, systems=["one"])
    assert "a unit shows 2 systems and 1 are named" in run("study", "freeze", made).err
