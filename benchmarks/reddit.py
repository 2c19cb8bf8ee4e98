"""What does building a corpus from dumps cost over reading them, how does it grow, and what memory does it take?

    python benchmarks/reddit.py                  # the sample under $ALLEARS_DATA, or a made-up dump
    python benchmarks/reddit.py --spark          # also: does Spark give the same rows as DuckDB?
    python benchmarks/reddit.py --deep 100000    # also: one thread of so many comments, each an answer to the last
    python benchmarks/reddit.py --comments RC.zst --submissions RS.zst --json

Ratios within one run: the whole DuckDB build against a bare pass that unpacks the same files and parses every
line (the two take turns, three times each, and the fastest of each is taken); a build of ten times the input (the
same records ten times, under other ids and other authors) against one; the peak memory of either, each in a process
of its own. DuckDB may take --memory; what a build needs beyond that may grow only by the persona table, whose size in
memory is told beside it. The exit code is 1 if a limit is broken.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import zstandard
from rich.console import Console
from rich.table import Table

from allears.corpora.files import Source, lines
from allears.corpora.reddit import output
from allears.corpora.reddit.build import build
from allears.corpora.reddit.options import Options

MOST_TIME = 25.0  # times a bare pass over the same files
TIMES = 10
MOST_GROWTH = 12.0  # times the time, for ten times the input
MOST_MEMORY = 4.0  # GiB
MEMORY = "512MB"  # for DuckDB: little, so that what grows beside it is seen
SLACK = 0.35  # GiB: the libraries that a build loads, and what allocators keep for themselves
TURNS = 3
MADE_UP = 20_000
WORDS = ["walked", "home", "garden", "dog", "happy", "blue", "sister", "and", "the", "with", "tea", "slowly"]


def bare_pass(files: list[Path]) -> float:
    """Processor time to unpack the files and parse each line, with nothing done to the records."""
    start = time.process_time()
    for path in files:
        for line in lines(Source(path)):
            json.loads(line)
    return time.process_time() - start


def one_build(comments: Path, submissions: Path, out: Path, **choices: Any) -> int:
    options = Options(
        comments=(comments,), submissions=(submissions,), out=out, orphans="keep", overwrite=True, **choices
    )
    return build(options).total


def measured_build(comments: Path, submissions: Path, out: Path, memory: str) -> dict[str, float]:
    """A build in a process of its own: processor time (its threads' too) and the peak of its memory."""
    command = [sys.executable, __file__, "--memory", memory, "--one", *map(str, (comments, submissions, out))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def report_one(comments: Path, submissions: Path, out: Path, memory: str) -> None:
    before = _peak_memory()
    wall, start = time.perf_counter(), time.process_time()
    personas: list[int] = []
    table = output.personas_by_author

    def watched(path: Path) -> dict[str, str]:
        found = table(path)
        personas.append(
            sys.getsizeof(found) + sum(sys.getsizeof(text) for item in found.items() for text in item)
        )
        return found

    output.personas_by_author = watched
    disk = DiskWatch(out)
    disk.start()
    conversations = one_build(comments, submissions, out, memory=memory)
    print(json.dumps({"conversations": conversations, "seconds": time.process_time() - start,
                      "wall": time.perf_counter() - wall, "memory": _peak_memory(), "memory_before": before,
                      "personas": personas[0] / 2**30, "disk": disk.peak / 2**30}))  # fmt: skip


class DiskWatch(Thread):
    """Looks twice a second how much a build has on disk: the work folder, with the corpus as it grows."""

    def __init__(self, out: Path):
        super().__init__(daemon=True)
        self.work = Options(comments=(), out=out).work
        self.peak = 0

    def run(self) -> None:
        while True:
            files = (Path(folder, name) for folder, _, names in os.walk(self.work) for name in names)
            self.peak = max(self.peak, sum(map(_size, files)))
            time.sleep(0.5)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except FileNotFoundError:  # gone in the meantime
        return 0


def _peak_memory() -> float:
    """In GiB, of this process alone. (Linux counts what the parent had into `ru_maxrss`, so ask it elsewhere.)"""
    status = Path("/proc/self/status")
    if status.is_file():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def write_many(records: Iterator[str], out: Path, times: int) -> None:
    """The records `times` times; each copy is another Reddit with its own people and threads."""
    written = [json.loads(line) for line in records]
    with out.open("wb") as file, zstandard.ZstdCompressor(level=3).stream_writer(file) as packed:
        for copy in range(times):
            for record in written:
                changed = dict(record)
                for key in ("id", "parent_id", "link_id", "author"):
                    if changed.get(key) and not str(changed[key]).startswith("["):
                        changed[key] = f"{changed[key]}x{copy}"
                packed.write(json.dumps(changed).encode() + b"\n")


def made_up(folder: Path, size: int) -> tuple[Path, Path]:
    """Threads of three answers each, by people with something to say about themselves."""
    random = Random(1)
    comments, posts = [], []
    for number in range(size // 4):
        people = random.sample(range(size // 10), 4)
        posts.append(
            {"id": f"p{number}", "author": f"a{people[0]}", "title": _words(random, 9), "subreddit": "happy"}
        )
        parent = f"t3_p{number}"
        for turn in range(1, 4):
            comments.append(
                _comment(f"c{number}_{turn}", people[turn], parent, _words(random, 12), f"t3_p{number}")
            )
            parent = f"t1_c{number}_{turn}"
        comments.append(
            _comment(f"h{number}", random.choice(people), "t3_none", "I " + _words(random, 8), None)
        )
    return _packed(folder / "RC.zst", comments), _packed(folder / "RS.zst", posts)


def one_deep_thread(folder: Path, size: int) -> tuple[Path, Path]:
    """Two people who answer each other under a third one's post."""
    posts = [{"id": "p", "author": "a2", "title": "My dog came home", "subreddit": "happy"}]
    comments = [
        _comment(f"d{n}", n % 2, f"t1_d{n - 1}" if n else "t3_p", f"This is answer {n}.", "t3_p")
        for n in range(size)
    ]
    comments += [_comment(f"h{n}", n, "t3_none", "I walked home with my happy dog.", None) for n in range(3)]
    return _packed(folder / "RC_deep.zst", comments), _packed(folder / "RS_deep.zst", posts)


def _packed(place: Path, records: list[dict[str, Any]]) -> Path:
    place.write_bytes(zstandard.compress("".join(json.dumps(record) + "\n" for record in records).encode()))
    return place


def _words(random: Random, many: int) -> str:
    return " ".join(random.choice(WORDS) for _ in range(many)) + "."


def _comment(key: str, person: int, parent: str, body: str, link: str | None) -> dict[str, Any]:
    names = {"id": key, "author": f"a{person}", "subreddit": "happy"}
    return names | {"parent_id": parent, "link_id": link, "created_utc": 1_500_000_000, "body": body}


def same_rows(comments: Path, submissions: Path, folder: Path, master: str) -> bool:
    """Build with Spark what was built with DuckDB, and compare every line."""
    one_build(comments, submissions, folder / "duckdb")
    one_build(comments, submissions, folder / "spark", engine="spark", master=master)
    found = [sorted(lines(Source(folder / name / "reddit.jsonl.gz"))) for name in ("duckdb", "spark")]
    return found[0] == found[1]


def measure(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    root = Path(os.environ.get("ALLEARS_DATA", "nowhere")) / "reddit"
    if arguments.comments:
        comments, submissions, read = arguments.comments, arguments.submissions, arguments.comments.name
    elif (root / "RC_sample.zst").is_file() and not arguments.made_up:
        comments, submissions, read = root / "RC_sample.zst", root / "RS_sample.zst", "the Reddit sample"
    else:
        comments, submissions = made_up(folder, MADE_UP)
        read = "made up"
    passes, builds = [], []
    for _ in range(arguments.turns):
        passes.append(bare_pass([comments, submissions]))
        builds.append(measured_build(comments, submissions, folder / "once", arguments.memory))
    bare, once = min(passes), min(builds, key=lambda found: found["seconds"])
    found: dict[str, Any] = {
        "read": read,
        "conversations": once["conversations"],
        "bare_seconds": bare,
        "all_bare_seconds": [round(seconds, 2) for seconds in passes],
        "build_seconds": once["seconds"],
        "all_build_seconds": [round(found["seconds"], 1) for found in builds],
        "build_wall": once["wall"],
        "time_ratio": once["seconds"] / bare,
        "memory_gib": once["memory"],
        "personas_gib": once["personas"],
        "disk_gib": once["disk"],
    }
    if arguments.times > 1:
        many = folder / "RC_many.zst", folder / "RS_many.zst"
        for source, out in zip((comments, submissions), many, strict=True):
            write_many(lines(Source(source)), out, arguments.times)
        grown = measured_build(*many, folder / "many", arguments.memory)
        found |= {
            "times": arguments.times,
            "growth": grown["seconds"] / once["seconds"],
            "grown_memory_gib": grown["memory"],
            "grown_personas_gib": grown["personas"],
            "grown_disk_gib": grown["disk"],
            # What there is before a build, what DuckDB may take, and the persona table.
            "expected_memory_gib": grown["memory_before"] + in_gib(arguments.memory) + grown["personas"],
            "grown_conversations": grown["conversations"],
        }
    if arguments.deep:
        deep = measured_build(*one_deep_thread(folder, arguments.deep), folder / "deep", arguments.memory)
        found |= {"deep_seconds": deep["seconds"], "deep_conversations": deep["conversations"]}
    if arguments.spark:
        found["same_rows"] = same_rows(comments, submissions, folder, arguments.master)
    return found


def in_gib(memory: str) -> float:
    """DuckDB's MB are millions of bytes."""
    return float(memory[:-2]) * {"MB": 1e6, "GB": 1e9}[memory[-2:]] / 2**30


def broken_limits(found: dict[str, Any]) -> list[str]:
    limits = [
        ("time_ratio", MOST_TIME),
        ("growth", MOST_GROWTH * found.get("times", TIMES) / TIMES),
        ("memory_gib", MOST_MEMORY),
        ("grown_memory_gib", min(MOST_MEMORY, found.get("expected_memory_gib", MOST_MEMORY) + SLACK)),
    ]
    broken = [
        f"{name} is {found[name]:.2f}, more than {most:.2f}"
        for name, most in limits
        if found.get(name, 0) > most
    ]
    return broken + (["Spark's rows differ from DuckDB's"] if found.get("same_rows") is False else [])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--comments", type=Path)
    parser.add_argument("--submissions", type=Path)
    parser.add_argument("--made-up", action="store_true", help="do not use the sample")
    parser.add_argument(
        "--times", type=int, default=TIMES, help="how many times the input (1: leave this out)"
    )
    parser.add_argument("--turns", type=int, default=TURNS, help="how often to measure pass and build")
    parser.add_argument("--memory", default=MEMORY, help="what DuckDB may take")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--deep", type=int, default=0, help="build one thread of so many comments")
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", nargs=3, type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ.setdefault("ALLEARS_SALT", "only for this benchmark")
    if arguments.one:
        comments, submissions, out = arguments.one
        report_one(comments, submissions, out, arguments.memory)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        found = measure(arguments, Path(folder))
    broken = broken_limits(found)
    if arguments.json:
        print(json.dumps(found | {"broken": broken}))
    else:
        table = Table("measure", "value")
        for name, value in found.items():
            table.add_row(name.replace("_", " "), f"{value:,.2f}" if isinstance(value, float) else str(value))
        Console().print(table, *broken)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
