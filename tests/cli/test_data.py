"""Every `allears data` command through `main`: what it prints, and its one sentence when it cannot."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from allears.corpora import Download, corpus_names
from allears.corpora.empathetic_dialogues import EmpatheticDialogues
from command_line import Answer, Run

HEADER = "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags"
TRAIN = [
    "talk:1,1,proud,My garden won a prize,3,My garden won_comma_ a real prize!,,",
    "talk:1,2,proud,My garden won a prize,7,A prize! [wow] Bread [/wow],,",
    "talk:2,1,sad,The goldfish left,7,My goldfish left.,,",
    "talk:2,2,sad,The goldfish left,5,Oh no.,,",
    "talk:2,3,sad,The goldfish left,7,Yes.,,",
    "talk:3,1,proud,Bread,5,I baked bread.,,",
    "talk:3,2,proud,Bread,3,Bread! Wow.,,",
]
BAD = "talk:4,1,green,Nothing,5,This emotion does not exist.,,"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of corpora with a small made-up EmpatheticDialogues: two splits, the second one row broken."""
    root = tmp_path / "corpora"
    folder = root / "empatheticdialogues"
    folder.mkdir(parents=True)
    (folder / "train.csv").write_text("\n".join([HEADER, *TRAIN]) + "\n", encoding="utf-8")
    (folder / "valid.csv").write_text("\n".join([HEADER, TRAIN[5], TRAIN[6], BAD]) + "\n", encoding="utf-8")
    monkeypatch.setenv("ALLEARS_DATA", str(root))
    return root


def one_sentence(answer: Answer) -> str:
    """What a person sees when something is wrong: nothing on standard output, one line, exit code 2."""
    assert answer.code == 2, answer
    assert answer.out == ""
    lines = answer.err.strip().splitlines()
    assert len(lines) == 1, answer.err
    assert lines[0].startswith("error: ")
    return lines[0]


# --- list


def test_list_names_every_corpus_and_what_of_it_is_here(run: Run, root: Path):
    answer = run("data", "list")
    assert answer.code == 0
    for name in corpus_names():
        assert name in answer.out
    line = next(line for line in answer.out.splitlines() if line.split()[:1] == ["ed"])
    assert "CC BY-NC 4.0" in line
    assert "train, valid" in line
    assert "train 19,532" in line
    assert "not here: allears data download dailydialog" in answer.out
    assert f"looked under {root}" in answer.err


def test_list_for_machines_is_json(run: Run, root: Path):
    listed = {item["name"]: item for item in json.loads(run("data", "list", "--json").out)}
    assert set(listed) == set(corpus_names())
    assert listed["ed"]["splits_here"] == ["train", "valid"]
    assert listed["ed"]["conversations"]["train"] == 19_532
    assert listed["esconv"]["splits_here"] == []


def test_list_works_where_there_is_no_folder_at_all(run: Run, tmp_path: Path):
    answer = run("data", "list", "--root", tmp_path / "nowhere")
    assert answer.code == 0
    assert "not here: allears data download ed" in answer.out


# --- show


def test_show_prints_who_says_what_and_everything_known_about_it(run: Run, root: Path):
    answer = run("data", "show", "ed")
    assert answer.code == 0
    for text in (
        "talk:1",
        "proud",
        "My garden won a prize",
        "seeker 3",
        "supporter 7",
        "My garden won, a real prize!",
    ):
        assert text in answer.out


def test_show_prints_brackets_as_they_are(run: Run, root: Path):
    assert "A prize! [wow] Bread [/wow]" in run("data", "show", "ed").out


def test_show_puts_the_supporter_on_the_right(run: Run, root: Path):
    lines = run("data", "show", "ed").out.splitlines()
    said_by_seeker = next(line for line in lines if "a real prize!" in line)
    said_by_supporter = next(line for line in lines if "A prize!" in line)
    assert said_by_supporter.index("A prize!") > said_by_seeker.index("My garden") + 20


def test_show_finds_a_conversation_by_id_and_by_number(run: Run, root: Path):
    by_id = run("data", "show", "ed", "--id", "talk:2")
    assert "My goldfish left." in by_id.out
    assert run("data", "show", "ed", "--index", 1).out == by_id.out


def test_show_random_is_the_same_for_the_same_seed_and_reaches_every_conversation(run: Run, root: Path):
    seen = {seed: run("data", "show", "ed", "--random", "--seed", seed).out for seed in range(12)}
    assert run("data", "show", "ed", "--random", "--seed", 3).out == seen[3]
    assert len(set(seen.values())) == 3


def test_show_for_machines_is_one_line_of_our_schema(run: Run, root: Path):
    shown = json.loads(run("data", "show", "ed", "--json").out)
    assert (shown["id"], len(shown["turns"])) == ("talk:1", 2)


def test_show_prints_personas_strategies_and_feedback_of_a_users_own_corpus(run: Run, tmp_path: Path):
    talk = {
        "id": "own",
        "turns": [
            {"speaker": "seeker", "text": "Hi \u001b[31mthere.", "feedback": 4},
            {"speaker": "supporter", "text": "Hello.", "strategy": "Question", "emotion": "calm"},
        ],
        "personas": {"seeker": ["i like tea"]},
        "problem": "rain",
        "survey": {"empathy": 5},
    }
    own = tmp_path / "own.jsonl"
    own.write_text(json.dumps(talk), encoding="utf-8")
    answer = run("data", "show", own)
    for text in (
        "persona of seeker",
        "· i like tea",
        "Question · feels calm",
        "feedback 4",
        "rain",
        "empathy 5",
    ):
        assert text in answer.out
    assert "\u001b" not in answer.out  # other people's text gives the terminal no orders


def test_show_says_what_it_cannot_find(run: Run, root: Path):
    assert "no conversation has the id 'talk:9' in the split 'train' of ed" in one_sentence(
        run("data", "show", "ed", "--id", "talk:9")
    )
    assert "no conversation number 7" in one_sentence(run("data", "show", "ed", "--index", 7))
    assert "choose one of" in one_sentence(run("data", "show", "ed", "--index", 1, "--random"))
    assert "ed has no split 'tomorrow'; it has train, valid, test" in one_sentence(
        run("data", "show", "ed", "--split", "tomorrow")
    )
    assert "none of the expected files is here" in one_sentence(run("data", "show", "ed", "--split", "test"))
    assert "no such file" in one_sentence(run("data", "show", "none.jsonl", "--split", "train"))


# --- stats


def test_stats_prints_sizes_of_all_splits_and_words_per_emotion(run: Run, root: Path):
    answer = run("data", "stats", "ed", "--skip-bad")
    assert answer.code == 0
    rows = {
        line.split("  ")[0].strip(): line.split()[-2:] for line in answer.out.splitlines() if line.strip()
    }
    assert rows["conversations"] == ["3", "1"]
    assert rows["utterances"] == ["7", "2"]
    assert rows["people named"] == ["3", "2"]
    assert "66.7%   baked, bread, garden   wow, bread, prize" in answer.out


def test_stats_for_machines_is_json_and_nothing_else(run: Run, root: Path):
    found = json.loads(run("data", "stats", "ed", "--split", "train", "--json").out)
    train = found["splits"]["train"]
    assert (found["corpus"], train["conversations"], train["utterances"]) == ("ed", 3, 7)
    assert train["emotions"]["proud"]["supporter_words"] == ["wow", "bread", "prize"]
    assert train["turns_per_conversation"]["mean"] == pytest.approx(7 / 3)


def test_stats_with_a_limit_reads_no_further(run: Run, root: Path):
    found = json.loads(
        run("data", "stats", "ed", "--split", "valid", "--limit", 1, "--json", "--skip-bad").out
    )
    assert found["splits"]["valid"]["conversations"] == 1


def test_stats_draws_a_picture(run: Run, root: Path, tmp_path: Path):
    picture = tmp_path / "ed.png"
    answer = run("data", "stats", "ed", "--split", "train", "--plot", picture)
    assert answer.code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"drew {picture}" in answer.err


def test_stats_of_esconv_shows_strategies_along_the_conversation(run: Run, tmp_path: Path):
    talk = {
        "id": "own",
        "turns": [
            {"speaker": speaker, "text": "Hm.", **({"strategy": strategy} if strategy else {})}
            for speaker, strategy in (
                ("seeker", ""),
                ("supporter", "Question"),
                ("seeker", ""),
                ("supporter", "Others"),
            )
        ],
    }
    own = tmp_path / "own.jsonl"
    own.write_text(json.dumps(talk), encoding="utf-8")
    lines = run("data", "stats", own).out.splitlines()
    question = next(line for line in lines if line.strip().startswith("Question")).split()
    others = next(line for line in lines if line.strip().startswith("Others")).split()
    # turns 2 and 4 of 4 begin at 1/4 and 3/4: the second and the fifth sixth
    assert question[1:] == ["1", "50.0%", "–", "100%", "–", "–", "0%", "–"]
    assert others[1:] == ["1", "50.0%", "–", "0%", "–", "–", "100%", "–"]


def test_stats_stops_at_a_broken_row_and_names_file_and_line(run: Run, root: Path):
    sentence = one_sentence(run("data", "stats", "ed", "--split", "valid"))
    assert "valid.csv, line 4: unknown emotion 'green'" in sentence


def test_skip_bad_goes_on_and_lists_what_was_skipped(run: Run, root: Path):
    answer = run("data", "stats", "ed", "--split", "valid", "--skip-bad")
    assert answer.code == 0
    assert "skipped 1 bad row:" in answer.err
    assert "valid.csv, line 4: unknown emotion 'green'" in answer.err


def test_skip_bad_lists_only_the_first_twenty(run: Run, root: Path):
    rows = [HEADER, *TRAIN, *[BAD] * 50]
    (root / "empatheticdialogues" / "train.csv").write_text("\n".join(rows), encoding="utf-8")
    lines = run("data", "stats", "ed", "--split", "train", "--skip-bad").err.strip().splitlines()
    assert lines[0] == "skipped 50 bad rows (the first 20 are listed):"
    assert len(lines) == 21


def test_stats_refuses_what_it_cannot_read_or_draw(run: Run, root: Path, tmp_path: Path):
    assert "unknown corpus 'nothing'; known are ed, " in one_sentence(run("data", "stats", "nothing"))
    assert "EmpatheticDialogues is not under" in one_sentence(run("data", "stats", "ed", "--root", tmp_path))
    assert "a picture ends in .png, .svg, .pdf" in one_sentence(
        run("data", "stats", "ed", "--plot", "ed.bmp")
    )
    assert "does not exist" in one_sentence(run("data", "stats", "ed", "--plot", tmp_path / "no" / "ed.png"))
    assert "no such file" in one_sentence(run("data", "stats", tmp_path / "none.jsonl"))


# --- check


def test_check_prints_a_table_and_fails_on_a_broken_row(run: Run, root: Path):
    answer = run("data", "check", "ed")
    assert answer.code == 1
    lines = answer.out.splitlines()
    train, valid, test = (
        next(line for line in lines if f" {split} " in line) for split in ("train", "valid", "test")
    )
    assert "3 (published 19,532)" in train
    assert "differs" in train
    assert "problem" in valid
    assert "1 problem, listed below" in valid
    assert "not here" in test
    assert "valid.csv, line 4: unknown emotion 'green'" in answer.out


def test_check_passes_a_part_of_a_corpus_unless_it_is_strict(run: Run, root: Path):
    (root / "empatheticdialogues" / "valid.csv").unlink()
    assert run("data", "check", "ed").code == 0
    assert run("data", "check", "ed", "--strict").code == 1


def test_check_all_covers_every_corpus(run: Run, root: Path):
    reports = json.loads(run("data", "check", "all", "--json").out)
    assert {report["corpus"] for report in reports} == set(corpus_names())
    by_split = {(report["corpus"], report["split"]): report for report in reports}
    assert by_split["ed", "train"]["conversations"] == 3
    assert by_split["ed", "valid"]["problem_count"] == 1
    assert by_split["esconv", "train"]["status"] == "not here"


def test_check_reads_a_users_own_file(run: Run, tmp_path: Path):
    own = tmp_path / "own.jsonl"
    own.write_text('{"id": "a", "turns": [{"speaker": "seeker", "text": "Hi."}]}\n', encoding="utf-8")
    answer = run("data", "check", own)
    assert answer.code == 0
    assert "fine" in answer.out


def test_check_refuses_a_folder_that_is_not_there_and_an_unknown_name(run: Run, root: Path, tmp_path: Path):
    assert "no such file or folder" in one_sentence(
        run("data", "check", "all", "--root", tmp_path / "nowhere")
    )
    assert "unknown corpus 'nothing'" in one_sentence(run("data", "check", "nothing"))


# --- export


def test_export_writes_json_lines_that_every_command_reads_back(run: Run, root: Path, tmp_path: Path):
    out = tmp_path / "ed.jsonl.gz"
    answer = run("data", "export", "ed", "--split", "train", "--out", out)
    assert answer.code == 0
    assert f"wrote 3 conversations to {out}" in answer.err
    assert run("data", "show", out, "--id", "talk:2").out == run("data", "show", "ed", "--id", "talk:2").out


def test_export_writes_parquet(run: Run, root: Path, tmp_path: Path):
    from pyarrow import parquet

    assert run("data", "export", "ed", "--out", tmp_path / "ed.parquet").code == 0
    assert parquet.read_table(tmp_path / "ed.parquet").column("emotion").to_pylist() == [
        "proud",
        "sad",
        "proud",
    ]


def test_export_of_examples_takes_the_listeners_turns(run: Run, root: Path, tmp_path: Path):
    out = tmp_path / "examples.jsonl"
    assert "wrote 3 examples" in run("data", "export", "ed", "--examples", "--out", out).err
    responses = [
        json.loads(line)["response"]["text"] for line in out.read_text(encoding="utf-8").splitlines()
    ]
    assert responses == ["A prize! [wow] Bread [/wow]", "Oh no.", "Bread! Wow."]


def test_export_refuses_a_wrong_ending_and_a_missing_folder(run: Run, root: Path, tmp_path: Path):
    assert "an export ends in .jsonl, .jsonl.gz, .parquet" in one_sentence(
        run("data", "export", "ed", "--out", tmp_path / "ed.csv")
    )
    assert "does not exist" in one_sentence(
        run("data", "export", "ed", "--out", tmp_path / "no" / "ed.jsonl")
    )


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a folder that not even root can write to")
@pytest.mark.parametrize("ending", ["jsonl", "parquet", "png"])
def test_a_folder_that_cannot_be_written_to_is_one_sentence(run: Run, root: Path, ending: str):
    out = Path(f"/proc/allears.{ending}")
    answer = (
        run("data", "stats", "ed", "--split", "train", "--plot", out)
        if ending == "png"
        else run("data", "export", "ed", "--out", out)
    )
    assert "cannot write" in one_sentence(answer)


def test_export_that_meets_a_broken_row_leaves_no_file(run: Run, root: Path, tmp_path: Path):
    out = tmp_path / "valid.jsonl"
    assert "line 4" in one_sentence(run("data", "export", "ed", "--split", "valid", "--out", out))
    assert not out.exists()
    assert run("data", "export", "ed", "--split", "valid", "--out", out, "--skip-bad").code == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 1


# --- download


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A local web server that serves the "official" file, and an EmpatheticDialogues that points at it."""
    folder = tmp_path / "site"
    folder.mkdir()
    content = gzip.compress("\n".join([HEADER, *TRAIN]).encode(), mtime=0)
    (folder / "train.csv.gz").write_bytes(content)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    point_downloads_at(
        monkeypatch,
        f"http://127.0.0.1:{server.server_port}/train.csv.gz",
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    yield folder
    server.shutdown()
    server.server_close()
    thread.join()


def point_downloads_at(
    monkeypatch: pytest.MonkeyPatch, url: str, *, bytes: int | None = None, sha256: str | None = None
) -> None:
    file = Download(url=url, file="empatheticdialogues/train.csv.gz", bytes=bytes, sha256=sha256)
    monkeypatch.setattr(EmpatheticDialogues, "info", replace(EmpatheticDialogues.info, downloads=(file,)))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def test_download_shows_licence_and_size_then_fetches_what_the_reader_reads(
    run: Run, site: Path, tmp_path: Path
):
    target = tmp_path / "fresh"
    answer = run("data", "download", "ed", "--to", target, "--yes")
    assert answer.code == 0
    assert "CC BY-NC 4.0" in answer.err
    assert f"({(site / 'train.csv.gz').stat().st_size} bytes)" in answer.err
    assert "fetched, checksum verified" in answer.err
    assert "ready to read: train" in answer.err
    assert "My goldfish left." in run("data", "show", "ed", "--index", 1, "--root", target).out


def test_download_asks_first_and_takes_no_for_an_answer(
    run: Run, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import io

    target = tmp_path / "fresh"
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    answer = run("data", "download", "ed", "--to", target)
    assert answer.code == 0
    assert "nothing was fetched" in answer.err
    assert not target.exists()
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert "nobody answered; pass --yes" in last_line(run("data", "download", "ed", "--to", target))
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert run("data", "download", "ed", "--to", target).code == 0
    assert (target / "empatheticdialogues" / "train.csv.gz").exists()


def test_download_of_what_is_already_here_says_so(run: Run, site: Path, tmp_path: Path):
    run("data", "download", "ed", "--to", tmp_path / "fresh", "--yes")
    assert "already here" in run("data", "download", "ed", "--to", tmp_path / "fresh", "--yes").err


def test_download_says_so_when_the_file_is_not_yet_readable(
    run: Run, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (file,) = EmpatheticDialogues.info.downloads
    elsewhere = replace(file, file="elsewhere/packed.bundle")
    monkeypatch.setattr(
        EmpatheticDialogues, "info", replace(EmpatheticDialogues.info, downloads=(elsewhere,))
    )
    answer = run("data", "download", "ed", "--to", tmp_path / "fresh", "--yes")
    assert answer.code == 0
    assert "no split can be read from it yet; unpack it beside itself" in answer.err


def last_line(answer: Answer) -> str:
    assert answer.code == 2, answer
    return answer.err.strip().splitlines()[-1]


def test_download_without_network_names_the_page(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    point_downloads_at(monkeypatch, "http://127.0.0.1:1/train.csv.gz")
    sentence = last_line(run("data", "download", "ed", "--to", tmp_path, "--yes"))
    assert sentence.startswith(
        "error: cannot reach 127.0.0.1 (is the network closed?); get train.csv.gz by hand from"
    )
    assert EmpatheticDialogues.info.page in sentence


def test_download_of_a_changed_file_is_refused(run: Run, site: Path, tmp_path: Path):
    (site / "train.csv.gz").write_bytes(b"something else")
    sentence = last_line(run("data", "download", "ed", "--to", tmp_path / "fresh", "--yes"))
    assert "does not have the published checksum" in sentence


def test_download_into_a_place_that_cannot_be_written_is_refused(run: Run, site: Path, tmp_path: Path):
    (tmp_path / "a-file").write_text("in the way")
    assert "cannot write" in last_line(run("data", "download", "ed", "--to", tmp_path / "a-file", "--yes"))


def test_download_of_a_corpus_without_an_address_names_its_page(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(EmpatheticDialogues, "info", replace(EmpatheticDialogues.info, downloads=()))
    sentence = one_sentence(run("data", "download", "ed", "--yes"))
    assert "ed has no file that can be fetched directly; get it from https://" in sentence


# --- all of them


@pytest.mark.parametrize("command", ["list", "show", "stats", "check", "export", "download"])
def test_every_command_has_help_with_examples(run: Run, command: str):
    answer = run("data", command, "--help")
    assert answer.code == 0
    assert "Examples" in answer.out
    assert f"allears data {command}" in answer.out


@pytest.mark.parametrize("command", ["show", "stats", "export", "download", "check"])
def test_an_unknown_corpus_is_one_sentence_in_every_command(run: Run, command: str, tmp_path: Path):
    more = ["--out", tmp_path / "out.jsonl"] if command == "export" else []
    more += ["--root", tmp_path] if command == "check" else []
    assert "unknown corpus 'nothing'" in one_sentence(run("data", command, "nothing", *more))


def test_an_error_with_brackets_is_printed_as_it_is(run: Run, root: Path):
    assert "unknown corpus '[red]x[/red]'" in one_sentence(run("data", "show", "[red]x[/red]"))


def test_a_real_process_exits_with_two_and_no_traceback(root: Path):
    code = "from allears.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "data", "show", "nothing"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "unknown corpus" in done.stderr


@pytest.mark.corpus
def test_check_of_the_real_corpora_finds_no_problem(run: Run, data_root: Path):
    answer = run("data", "check", "all", "--json", "--root", data_root)
    reports = json.loads(answer.out)
    assert [report for report in reports if report["status"] == "problem"] == []
    assert answer.code == 0
