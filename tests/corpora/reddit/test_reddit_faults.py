"""What goes wrong with dumps and disks is counted, or is one clear error; a half-written corpus never is there."""

from __future__ import annotations

import errno
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from made_up_dump import comment, made_up_reddit, post, write

from allears.corpora import export
from allears.corpora.files import CorpusError
from allears.corpora.reddit import build as building
from allears.corpora.reddit import card, output
from allears.corpora.reddit.build import build
from allears.corpora.reddit.options import Options
from allears.errors import AllearsError


def options(folder: Path, comments: list[Any] | None = None, **choices: Any) -> Options:
    made_up, posts = made_up_reddit(250)
    found = made_up if comments is None else comments
    return Options(
        comments=(write(folder / "RC.zst", found),),
        submissions=(write(folder / "RS.zst", posts),),
        out=folder / "out",
        orphans="keep",
        **choices,
    )


def test_broken_lines_are_counted_by_kind(tmp_path: Path):
    comments, _ = made_up_reddit(250)
    broken = ['{"id": "cut sho', "[1, 2]", "7", "null", json.dumps({"id": "k", "author": "ann"})]
    wrong = [comment("w1", "ann", "t3_p1", 5), comment("w2", "ann", 12345, "hello there"), {"id": None}]
    report = build(options(tmp_path, [*comments, *broken, *wrong, '{"a": ' * 100_000]))
    assert report.lines["lines"] == len(comments) + len(broken) + len(wrong) + 1 + 20
    assert report.lines["broken JSON"] == 2
    assert report.lines["missing keys"] == 7
    assert report.total > 5


def test_invalid_utf8_half_characters_and_zero_bytes_do_not_stop_a_build(tmp_path: Path):
    comments, _ = made_up_reddit(250)
    asked = options(tmp_path, [*comments, comment("s1", "ann", "t3_p1", "half \ud83d of it \0 is here")])
    text = zstandard.decompress(asked.comments[0].read_bytes()) + b'{"id": "\xff\xfe"}\n'
    asked.comments[0].write_bytes(zstandard.compress(text))
    report = build(asked)
    assert report.lines["not valid UTF-8"] == 1
    assert report.total > 5


def test_times_and_links_may_be_missing_texts_or_absurd(tmp_path: Path):
    comments, _ = made_up_reddit(250)
    for record, when in zip(
        comments, ["1500000000", 1e300, "soon", -5, 2**70, 1.5e9, True, []], strict=False
    ):
        record["created_utc"] = when
        del record["link_id"]
    report = build(options(tmp_path, comments))
    assert report.lines.keys() == {"lines"}


def test_a_file_that_is_no_dump_is_one_clear_error(tmp_path: Path):
    asked = options(tmp_path, ["hello", "world"])
    with pytest.raises(
        CorpusError, match=r"RC\.zst: 2 of 2 lines are no Reddit comments \(broken JSON\); expected"
    ):
        build(asked)
    swapped = Options(comments=asked.submissions, out=tmp_path / "out", orphans="keep")
    with pytest.raises(CorpusError, match=r"RS\.zst: .* no Reddit comments \(missing keys\)"):
        build(swapped)
    assert not (tmp_path / "out").exists()


def test_a_truncated_archive_is_an_error_and_finished_files_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked = options(tmp_path)
    whole = asked.submissions[0].read_bytes()
    asked.submissions[0].write_bytes(whole[:-20])
    with pytest.raises(CorpusError, match=r"RS\.zst: broken or cut short"):
        build(asked)
    assert not asked.out.exists()
    asked.submissions[0].write_bytes(whole)
    read: list[str] = []
    original = building.read_dump
    monkeypatch.setattr(
        building,
        "read_dump",
        lambda path, *rest, **more: read.append(path.name) or original(path, *rest, **more),
    )
    build(asked)
    assert read == ["RS.zst"]  # the comments were finished before
    assert not asked.work.exists()


def test_other_choices_do_not_reuse_work_that_depends_on_them(tmp_path: Path):
    asked = options(tmp_path, mask=False, subreddits=("happy",), persona_of="nobody")
    asked.work.mkdir()
    (asked.work / "records").mkdir()
    (asked.work / "records" / "0123456789abcdef.parquet").write_bytes(b"left by other choices")
    assert build(asked).total > 0


def test_a_window_larger_than_allowed_is_an_error(tmp_path: Path):
    asked = options(tmp_path)
    packed = bytearray(asked.comments[0].read_bytes())
    frame = b"\x28\xb5\x2f\xfd" + b"\x00" + bytes([(31 - 10) << 3 | 7])  # a window of 2**31 * 15/8 bytes
    asked.comments[0].write_bytes(frame + bytes(packed[6:]))
    with pytest.raises(CorpusError, match=r"RC\.zst: broken or cut short"):
        build(asked)
    assert not asked.out.exists()


def test_a_thread_of_many_answers_one_below_the_other_ends(tmp_path: Path):
    deep = [comment(f"d{number}", ("bob", "ann")[number % 2], f"t1_d{number - 1}", f"this is answer {number}")
            for number in range(1, 5_000)]  # fmt: skip
    deep.append(comment("d0", "bob", "t3_p1", "I am at the top of the hill."))
    deep.append(comment("h", "ann", "t3_gone", "I am in the old garden."))
    report = build(options(tmp_path, deep, persona_of="nobody"))
    assert report.total > 2_400


def test_parents_in_a_circle_are_counted(tmp_path: Path):
    comments, _ = made_up_reddit(250)
    ring = [
        comment(f"r{number}", "ann", f"t1_r{(number + 1) % 50}", "round and round we go")
        for number in range(50)
    ]
    own = [comment("self", "bob", "t1_self", "I am my own parent.")]
    report = build(options(tmp_path, [*comments, *ring, *own]))
    circles = next(rule for rule in report.rules if rule.name == "circle")
    assert circles.removed == 50 + 1 + 3  # three are in the made-up dump already


def full(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


class FullDisk(io.RawIOBase):
    """A file that takes nothing."""

    write = full


@pytest.mark.parametrize(
    ("module", "name", "fault"),
    [
        (building, "read_dump", full),
        (output, "lines_sink", full),
        (output, "parquet_sink", full),
        (export, "_packed", lambda *_: FullDisk()),  # the first line of JSON meets it, deep in the writing
        (export, "conversation_row", full),
        (output, "PecWriter", full),
        (card, "write_card", full),
        (output, "put_in_place", full),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_full_disk_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, fault: Any
):
    asked = options(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(module, name, fault)
        if hasattr(output, name):
            patched.setattr(output, name, fault)
        with pytest.raises(AllearsError, match="the disk is full; nothing was put in place"):
            build(asked)
    assert not asked.out.exists()
    assert build(asked).total > 5


def test_a_limit_on_file_size_in_the_engine_is_one_sentence(tmp_path: Path):
    """A real limit of the system, in a process of its own: DuckDB meets it, not our Python."""
    asked = options(tmp_path, made_up_reddit(6_000)[0])
    program = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (90_000, 90_000));"
        "from allears.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "reddit", "build", "--orphans", "keep", "--out", str(asked.out),
               "--comments", str(asked.comments[0]), "--submissions", str(asked.submissions[0])]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "error:" in done.stderr
    assert "Traceback" not in done.stderr
    assert not asked.out.exists()


def test_an_output_that_exists_is_kept_unless_overwriting_was_asked_for(tmp_path: Path):
    asked = options(tmp_path)
    build(asked)
    with pytest.raises(AllearsError, match="exists already"):
        build(asked)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(AllearsError, match="is no built corpus"):
        build(Options(comments=asked.comments, out=mine, orphans="keep", overwrite=True))
    assert (mine / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"engine": "abacus"}, "--engine"),
        ({"persona_of": "cats"}, "--persona-of"),
        ({"orphans": "adopt"}, "--orphans"),
        ({"tagger": "guess"}, "--tagger"),
        ({"memory": "lots"}, "--memory"),
        ({"comments": ()}, "--comments"),
        ({"out": Path("no/where/out")}, "does not exist"),
    ],
)
def test_a_wrong_choice_is_refused_before_any_work(tmp_path: Path, wrong: dict[str, Any], message: str):
    path = write(tmp_path / "RC.zst", [comment("a", "ann", "t3_p", "hello")])
    choices = {"comments": (path,), "out": tmp_path / "out", "orphans": "keep"} | wrong
    with pytest.raises(AllearsError, match=message):
        build(Options(**choices))
    assert [entry.name for entry in tmp_path.iterdir()] == ["RC.zst"]


def test_a_post_alone_is_no_conversation(tmp_path: Path):
    asked = options(tmp_path, [comment("a", "ann", "t1_gone", "I am quite alone here.")])
    write(asked.submissions[0], [post("p", "ann", "Nobody answers")])
    with pytest.raises(AllearsError, match="no conversation is left"):
        build(asked)
    assert not asked.out.exists()
