"""What does building a corpus from dumps cost over reading them, how does it grow, and what memory does it take?

    python benchmarks/reddit.py                  # the sample under $ALLEARS_DATA, or a made-up dump
    python benchmarks/reddit.py --spark          # also: does Spark give the same rows as DuckDB?
    python benchmarks/reddit.py --comments RC.zst --submissions RS.zst --json

Ratios within one run: the whole DuckDB build against a bare pass that unpacks the same files and parses every
line; a build of ten times the input (the same records ten times, under other ids and other authors) against
one; the peak memory of either, each in a process of its own. The exit code is 1 if a limit is broken.
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
from typing import Any

import zstandard
from rich.console import Console
from rich.table import Table

from allears.corpora.files import Source, lines
from allears.corpora.reddit.build import build
from allears.corpora.reddit.options import Options

MOST_TIME = 25.0  # times a bare pass over the same files
TIMES = 10
MOST_GROWTH = 12.0  # times the time, for ten times the input
MOST_MEMORY = 4.0  # GiB
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
    options = Options(comments=(comments,), submissions=(submissions,), out=out, orphans="keep", **choices)
    return build(options).total


def measured_build(comments: Path, submissions: Path, out: Path) -> dict[str, float]:
    """A build in a process of its own: processor time (its threads' too) and the peak of its memory."""
    command = [sys.executable, __file__, "--one", str(comments), str(submissions), str(out)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def report_one(comments: Path, submissions: Path, out: Path) -> None:
    wall, start = time.perf_counter(), time.process_time()
    conversations = one_build(comments, submissions, out)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"conversations": conversations, "seconds": time.process_time() - start,
                      "wall": time.perf_counter() - wall, "memory": peak}))  # fmt: skip


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
    places = folder / "RC.zst", folder / "RS.zst"
    for place, records in zip(places, (comments, posts), strict=True):
        place.write_bytes(
            zstandard.compress("".join(json.dumps(record) + "\n" for record in records).encode())
        )
    return places


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
    bare = min(bare_pass([comments, submissions]) for _ in range(3))
    once = measured_build(comments, submissions, folder / "once")
    found: dict[str, Any] = {
        "read": read,
        "conversations": once["conversations"],
        "bare_seconds": bare,
        "build_seconds": once["seconds"],
        "build_wall": once["wall"],
        "time_ratio": once["seconds"] / bare,
        "memory_gib": once["memory"],
    }
    if arguments.times > 1:
        many = folder / "RC_many.zst", folder / "RS_many.zst"
        for source, out in zip((comments, submissions), many, strict=True):
            write_many(lines(Source(source)), out, arguments.times)
        grown = measured_build(*many, folder / "many")
        found |= {
            "times": arguments.times,
            "growth": grown["seconds"] / once["seconds"],
            "grown_memory_gib": grown["memory"],
            "grown_conversations": grown["conversations"],
        }
    if arguments.spark:
        found["same_rows"] = same_rows(comments, submissions, folder, arguments.master)
    return found


def broken_limits(found: dict[str, Any]) -> list[str]:
    limits = [
        ("time_ratio", MOST_TIME),
        ("growth", MOST_GROWTH * found.get("times", TIMES) / TIMES),
        ("memory_gib", MOST_MEMORY),
        ("grown_memory_gib", MOST_MEMORY),
    ]
    broken = [
        f"{name} is {found[name]:.2f}, more than {most}" for name, most in limits if found.get(name, 0) > most
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
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", nargs=3, type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ.setdefault("ALLEARS_SALT", "only for this benchmark")
    if arguments.one:
        report_one(*arguments.one)
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
