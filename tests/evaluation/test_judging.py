"""Blind items and readers' marks: nobody can tell a version, and what the marks say is counted right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score

from allears.errors import AllearsError
from allears.evaluation.judging import cohen_kappa, judging_report, mix, read_marks
from command_line import Run, run  # noqa: F401


def version(path: Path, reply: str, scripts: int = 6) -> Path:
    lines = [
        json.dumps({"id": f"s{n}", "messages": [f"m{n}", "more"], "replies": [f"{reply} {n}", reply]})
        for n in range(scripts)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = [version(tmp_path / f"{name}.jsonl", name) for name in ("warm", "cold")]
    assert mix(files, tmp_path / "judging", packets=2, seed=3) == 12
    return tmp_path / "judging"


def marks(folder: Path, reader: str, by_version: dict[str, str], go_on: int = 3) -> None:
    key = json.loads((folder / "key.json").read_text())["items"]
    lines = [
        json.dumps({"item": item, "marks": by_version[entry["version"]], "go_on": go_on})
        for item, entry in key.items()
        if entry["version"] in by_version
    ]
    (folder / "marks" / f"{reader}.jsonl").write_text("\n".join(lines), encoding="utf-8")


def test_items_do_not_tell_their_version_and_packets_hold_each_once(folder: Path):
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    assert set(items[0]) == {"item", "replies", "conversation"}
    assert items[0]["conversation"][0].startswith("PERSON: ")
    parts = [
        json.loads(line)["item"]
        for n in (1, 2)
        for line in (folder / f"packet-{n}.jsonl").read_text().splitlines()
    ]
    assert sorted(parts) == sorted(item["item"] for item in items)
    assert "warm" not in (folder / "JUDGING.md").read_text()


def test_shares_agreement_and_sign_test(folder: Path):
    marks(folder, "ann", {"warm": "GG", "cold": "PO"}, go_on=4)
    marks(folder, "bob", {"warm": "GP", "cold": "PO"}, go_on=2)
    report = judging_report(*read_marks(folder))
    cold, warm = report.versions
    assert (warm.good, warm.plain, warm.off, warm.go_on) == (75.0, 25.0, 0.0, 3.0)
    assert (cold.good, cold.plain, cold.off) == (0.0, 50.0, 50.0)
    assert report.read_twice == 24
    assert report.kappa == pytest.approx(
        cohen_kappa_score(list("GG" * 6 + "PO" * 6), list("GP" * 6 + "PO" * 6))
    )
    (compared,) = report.compared
    assert (compared.first, compared.test.wins, compared.test.losses) == ("cold", 0, 12)
    assert compared.test.p_value < 0.001
    assert report.unread == 0


def test_kappa_is_nan_where_there_is_no_chance():
    assert cohen_kappa([("G", "G")] * 3) != cohen_kappa([("G", "G")] * 3)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"item": "x999", "marks": "GG", "go_on": 3}', "there is no item 'x999'"),
        ('{"item": "x001", "marks": "G", "go_on": 3}', "x001 needs 2 letters of GPO, got 'G'"),
        ('{"item": "x001", "marks": "GX", "go_on": 3}', "got 'GX'"),
        ('{"item": "x001", "marks": "GG", "go_on": 9}', "'go_on' must be 1 to 5, got 9"),
        (
            '{"item": "x001", "marks": "GG", "go_on": 3}\n{"item": "x001", "marks": "GG", "go_on": 3}',
            "marked twice",
        ),
    ],
)
def test_a_wrong_mark_is_one_sentence_with_file_and_line(folder: Path, line: str, sentence: str):
    (folder / "marks" / "eve.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(AllearsError) as raised:
        read_marks(folder)
    assert sentence in str(raised.value)
    assert "eve.jsonl, line" in str(raised.value)


def test_versions_must_hold_the_same_scripts(tmp_path: Path):
    files = [version(tmp_path / "a.jsonl", "a"), version(tmp_path / "b.jsonl", "b", scripts=5)]
    with pytest.raises(AllearsError, match="b and a do not hold the same scripts"):
        mix(files, tmp_path / "judging")
    assert not (tmp_path / "judging").exists()


def test_marks_are_never_overwritten(folder: Path, tmp_path: Path):
    with pytest.raises(AllearsError, match="is there already"):
        mix([tmp_path / "warm.jsonl"], folder)


def test_the_commands_mix_and_report(run: Run, tmp_path: Path):  # noqa: F811
    files = [version(tmp_path / f"{name}.jsonl", name) for name in ("warm", "cold")]
    assert run("judge", "mix", *files, "--out", tmp_path / "j").code == 0
    answer = run("judge", "report", tmp_path / "j")
    assert answer.code == 2
    assert "no marks yet" in answer.err
    marks(tmp_path / "j", "ann", {"warm": "GG"})
    record = run("judge", "report", tmp_path / "j", "--json").json
    assert record["versions"][1] == {
        "version": "warm", "marks": 12, "good": 100.0, "plain": 0.0, "off": 0.0, "go_on": 3.0,
    }  # fmt: skip
    assert record["unread_items"] == 6
    assert "6 items are not marked yet" in run("judge", "report", tmp_path / "j").err


def test_replay_needs_scripts_a_voice_and_a_folder(run: Run, tmp_path: Path):  # noqa: F811
    scripts = tmp_path / "s.jsonl"
    answer = run("replay", scripts, "--out", tmp_path / "o.jsonl")
    assert (answer.code, "no such file" in answer.err) == (2, True)
    scripts.write_text('{"id": "a", "messages": ["hello"]}')
    answer = run("replay", scripts, "--out", tmp_path / "nowhere" / "o.jsonl")
    assert (answer.code, "there is no folder" in answer.err) == (2, True)
    answer = run("replay", scripts, "--voice", "nobody", "--out", tmp_path / "o.jsonl")
    assert (answer.code, "there is no voice 'nobody'" in answer.err) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.jsonl"]
